package stages

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"pmg/config"
	"pmg/connector"
	"pmg/gateway"
	"pmg/internal/testkit/testutil"
	"pmg/protocols"
	"pmg/protocols/prototest/toy"
	"pmg/sms"
	"pmg/stages/flow"
)

// TestMain fails when a test leaves goroutines behind.
func TestMain(m *testing.M) { testutil.NoLeaks(m) }

// A rig is the pipeline with some of its stages. Probes replace the others and keep the
// jobs they get, for the test.
type rig struct {
	*flow.Pipeline[Job]
	t       testing.TB
	gateway *gateway.Gateway
	pool    *flow.Pool[Job]
	deps    *Deps
	real    map[int]flow.Stage[Job]

	inlet *flow.Inlet[Job]
	stop  context.CancelFunc // ends Deps.Context

	mu    sync.Mutex
	cache flow.Cache[Job] // for what take releases
	seen  [toWriter + 1][]*Job
	todo  []func(*flow.Out[Job])
}

// do is the kind of the jobs that make a probe run a function.
const do Kind = 255

// A probe replaces a stage.
type probe struct {
	rig *rig
	row int
}

func (p *probe) Work(out *flow.Out[Job], j *Job) {
	r := p.rig
	r.mu.Lock()
	defer r.mu.Unlock()
	if j.Kind != do {
		r.seen[p.row] = append(r.seen[p.row], j)
		return
	}
	f := r.todo[0]
	r.todo = r.todo[1:]
	out.Release(j)
	f(out)
}

const rigConfig = `
pdulog: {enabled: false}
limits: {unsent: 64KiB, max_jobs: 10000000}
accounts: [{system_id: load, %s}]
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0", window: 10, %s}
  - {name: operator, direction: out, address: "127.0.0.1:1", window: 10, system_id: pmg, password: secret, static: false, %s}
routes: [{to: operator}]
`

// A site is the part of a rig's configuration that differs between tests.
type site struct{ account, operator, clients string }

// newRig runs the named stages, and probes in place of the others.
func newRig(t testing.TB, s site, rows ...int) *rig {
	t.Helper()
	return newRigWith(t, s, nil, rows...)
}

// newRigWith also replaces some stages by stages of the test.
func newRigWith(t testing.TB, s site, stand map[int]flow.Stage[Job], rows ...int) *rig {
	t.Helper()
	if s.account == "" {
		s.account = "password: secret"
	}
	cfg, _, err := config.Parse(fmt.Appendf(nil, rigConfig, s.account, s.clients, s.operator), config.Options{Protocols: []string{"smpp"}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(cfg, zerolog.Nop(), func(string, *config.Config) (protocols.Driver, error) { return toy.New(), nil })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Keeper.Batches.Close() })
	r := &rig{t: t, gateway: g, pool: NewPool(), real: map[int]flow.Stage[Job]{}}
	r.cache = r.pool.NewCache()
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	deps := &Deps{Context: ctx, Gateway: g, Pool: r.pool, Log: zerolog.Nop(), groups: newGroups(1)}
	r.deps = deps
	table := Table()
	all := make([]string, len(table))
	for i := range table {
		all[i] = table[i].Name
	}
	for i := range table {
		make := table[i].New
		if slices.Contains(rows, i) {
			table[i].New = func(d *Deps) (flow.Stage[Job], error) {
				s, err := make(d)
				r.real[i] = s
				return s, err
			}
			continue
		}
		table[i].To, table[i].Ends = all, nil
		table[i].New = func(*Deps) (flow.Stage[Job], error) {
			if s := stand[i]; s != nil {
				return s, nil
			}
			return &probe{r, i}, nil
		}
	}
	if r.Pipeline, err = flow.Start(table, deps, r.pool, flow.Options[Job]{OnPanic: deps.panicked}); err != nil {
		t.Fatal(err)
	}
	r.inlet = r.NewInlet()
	return r
}

// close ends the rig. It fails if jobs are left that no probe has.
func (r *rig) close() { r.t.Helper(); r.closeAfter(0) }

// closeAfter ends a rig whose stages must have panicked a number of times.
func (r *rig) closeAfter(panics int64) {
	r.t.Helper()
	r.inlet.Close()
	r.stop()
	if err := r.Pipeline.Close(); err != nil {
		r.t.Error(err)
	}
	for row := range r.seen {
		r.take(row)
	}
	r.cache.Drain()
	if n := r.pool.Live(); n != 0 {
		r.t.Errorf("%d jobs are left", n)
	}
	for _, s := range r.Stats() {
		panics -= s.Panics
	}
	if panics != 0 {
		r.t.Errorf("%d panics too few", panics)
	}
}

// send injects a job.
func (r *rig) send(row int, kind Kind, fill func(*Job)) {
	j := r.inlet.Get()
	j.Kind = kind
	if fill != nil {
		fill(j)
	}
	r.inlet.Send(row, j)
}

// in runs f in a probe, so that what it sends is one batch.
func (r *rig) in(row int, f func(*flow.Out[Job])) {
	r.mu.Lock()
	r.todo = append(r.todo, f)
	r.mu.Unlock()
	r.send(row, do, nil)
}

// A sight is a copy of a job that a probe received.
type sight struct {
	Kind  Kind
	Bytes string
	Wire  string
	Last  bool
	refs  int
	j     *Job
}

// take returns the jobs that a probe has received so far, and releases them with their
// references.
func (r *rig) take(row int) (all []sight) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, j := range r.seen[row] {
		s := sight{j.Kind, string(j.Bytes), "", j.Last, int(j.refs), j}
		if j.Kind == Bytes {
			s.Bytes = string(j.Octets.b)
		} else if j.Octets != nil {
			s.Wire = string(j.Octets.b)
		}
		all = append(all, s)
		if j.Handle != nil && j.refs > 0 {
			j.Handle.release(int(j.refs))
		}
		r.cache.Release(j)
	}
	r.seen[row] = nil
	return all
}

// kinds returns the kinds of the jobs that a probe has received, without releasing them.
func (r *rig) kinds(row int) (all []Kind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, j := range r.seen[row] {
		all = append(all, j.Kind)
	}
	return all
}

// await waits until a probe has received n jobs, and returns them. It is for stages that
// wait for the kernel.
func (r *rig) await(row, n int) []sight {
	r.t.Helper()
	testutil.Eventually(r.t, fmt.Sprintf("stage %d has seen %d jobs", row, n), func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.seen[row]) >= n
	})
	return r.take(row)
}

// session returns a handle on one end of a socket pair, and the other end.
func (r *rig) session(name string) (h *handle, peer int) {
	r.t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, fd := range pair {
		if err := unix.SetNonblock(fd, true); err != nil {
			r.t.Fatal(err)
		}
	}
	return r.handle(name, pair[0]), pair[1]
}

// lane returns the lane of the connector "operator".
func (r *rig) lane() *connector.Lane {
	return r.gateway.Table.LaneOf(r.gateway.Table.Connector("operator"))
}

// share returns the share of the client's account in that lane.
func (r *rig) share() *connector.Share {
	return r.lane().Queues.Share(&sms.Origin{Account: "load", Connector: "clients", Tally: &sms.Tally{}}, 100)
}

func (r *rig) handle(name string, fd int) *handle {
	return r.handleOn(r.gateway.Table.Connector(name).Acquire(), fd)
}

func (r *rig) handleOn(i *connector.Instance, fd int) *handle {
	return newHandle(r.deps, i, admitted{fd: fd}, time.Now().UnixNano())
}
