package system

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/events/stats"
	"pmg/internal/testkit/process"
	"pmg/internal/testkit/testutil"
	"pmg/loadtest"
	"pmg/store"
)

var (
	kills    = flag.Int("kills", 20, "how often TestKill kills the gateway")
	killSeed = flag.Uint64("kill-seed", 0, "seed of the moments at which TestKill kills; 0: a new one")
)

const (
	killSessions = 2  // to the SMSC
	killWindow   = 10 // of each
	killLoads    = 6  // clients
)

const killConfig = `
log: {format: json}
pdulog: {enabled: false}
admin: {address: "127.0.0.1:0"}
store: {dir: %q, ballast: 0B}
events: {dir: %q, rotate_every: 0s}
stats: {dir: %q}
accounts: [{system_id: load, password: secret}]
connectors:
  - {name: clients, direction: in, address: %q, window: 100}
  - {name: operator, direction: out, address: %q, instances: %d, window: %d, max_queue: 500, queue_wait: 60s,
     system_id: pmg, password: secret, reconnect_delay: 20ms, on_unknown: %s}
routes: [{to: operator}]
`

// killTagged asks two plugins, and its route takes no message without the tag of the second, which is asked again as the
// message leaves and informed how it ended.
const killTagged = `
plugins:
  - {name: rules, on_failure: refuse, rules: [{tags: [seen]}]}
  - {name: service, url: %q, on_failure: refuse, deadline: 1m}
hooks: [{at: accept, plugin: rules}, {at: accept, plugin: service}, {at: send, plugin: service}, {at: result, plugin: service}]
routes: [{tag: asked, to: operator}]
`

// startTagger serves a plugin that gives each message the tag asked, if rules have given it seen. No message may leave, or
// end, without both, nor be reported twice.
func startTagger(t *testing.T) (url string, hooks map[string]*atomic.Int64) {
	hooks = map[string]*atomic.Int64{"accept": {}, "send": {}, "result": {}}
	tags := map[string]string{"accept": "seen", "send": "seen asked", "result": "seen asked"}
	var ended sync.Map
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Messages []struct{ Hook, ID, Tags string }
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || len(q.Messages) != 1 || q.Messages[0].Tags != tags[q.Messages[0].Hook] {
			t.Errorf("a service is asked %+v, %v", q, err)
			return
		}
		m := q.Messages[0]
		if m.Hook == "result" {
			if _, twice := ended.LoadOrStore(m.ID, true); twice {
				t.Errorf("message %s is reported twice", m.ID)
			}
		}
		hooks[m.Hook].Add(1)
		_, _ = io.WriteString(w, `{"verdicts": [{"tags": ["asked"]}]}`)
	}))
	t.Cleanup(s.Close)
	return s.URL, hooks
}

// T3: a gateway that is killed again and again under load loses no message that it has
// accepted, and sends at most its windows twice for each kill. With on_unknown: fail it sends
// none twice, and gives up at most its windows for each kill.
func TestKill(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	for _, unknown := range []string{config.Resend, config.Fail} {
		t.Run(unknown, func(t *testing.T) {
			t.Parallel()
			seed := *killSeed
			if seed == 0 {
				seed = rand.Uint64()
			}
			t.Logf("-kill-seed %d", seed)
			killed(t, unknown, rand.New(rand.NewPCG(seed, 0)))
		})
	}
}

// A killing is the counts of a test that kills a gateway.
type killing struct {
	fails        bool // on_unknown: fail
	kills        int
	last, most   int64         // messages that had arrived twice at the last kill; the most between two
	recovered    int           // messages of earlier runs, over all starts
	ready, moved time.Duration // the longest times from a start until it listens, and until those are in their queues
}

func killed(t *testing.T, unknown string, random *rand.Rand) {
	sink, err := loadtest.StartSink(loadtest.SinkOptions{Listen: "127.0.0.1:0", Delay: 2 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	dir := process.NewStoreDir(t)
	tagged := strings.Replace(killConfig, "routes: [{to: operator}]\n", killTagged, 1)
	url, hooks := startTagger(t)
	file := process.WriteConfig(t, fmt.Sprintf(
		tagged, dir, dir+"-events", dir+"-stats", testutil.FreeAddress(t), sink.Addr(), killSessions, killWindow, unknown, url,
	))
	loads := startStubborn(killLoads)
	k := killing{fails: unknown == config.Fail}
	for k.kills < *kills {
		p := program(t).Serve(t, file)
		if random.IntN(4) == 0 { // while it starts, or is about to
			time.Sleep(time.Duration(random.IntN(200)) * time.Millisecond)
		} else {
			k.serves(p, loads)
			time.Sleep(time.Duration(50+random.IntN(450)) * time.Millisecond)
		}
		p.Kill()
		k.ended(t, p)
		k.doubled(t, sink)
		k.kills++
	}
	last := program(t).Serve(t, file)
	k.serves(last, loads)
	time.Sleep(100 * time.Millisecond) // under load again
	loads.stop(t)
	last.Settle()
	if status := last.Stop(); status != 0 {
		t.Errorf("exit status %d", status)
	}
	k.ended(t, last)
	isEmpty(t, dir)
	k.doubled(t, sink)
	missing := loads.missing(sink.Result())
	if missing > 0 && !k.fails || missing > int64(k.kills*killSessions*killWindow) {
		t.Errorf("%d accepted messages have not arrived", missing)
	}
	r := sink.Result()
	sent, events := endsOf(t, dir+"-events")
	sums, err := stats.Read(t.Context(), dir+"-stats", stats.Query{})
	if err != nil || len(sums) != 1 || sums[0].Figure("sent") != sent || sums[0].Figure("accepted") != events {
		t.Errorf("%d events, %d of them of messages that were sent; statistics have %v, %v", events, sent, sums, err)
	}
	if sent != r.Unique && !k.fails || sent > r.Unique || events < loads.accepted {
		t.Errorf("%d events, %d of them of messages that were sent; %d were accepted, %d have arrived", events, sent, loads.accepted, r.Unique)
	}
	asked := hooks["send"].Load()
	reported := hooks["result"].Load()
	if asked < r.Unique || reported == 0 || reported > events {
		t.Errorf("%d have arrived and %d ended: asked as they left %d times, reported %d", r.Unique, events, asked, reported)
	}
	t.Logf("plugins: asked %d times before the answer and %d times as messages left, %d of %d ends reported", hooks["accept"].Load(), asked, reported, events)
	t.Logf("%d kills: %d messages accepted, %d missing, %d delivered, %d of them twice (%.1f a kill, at most %d between two), %d logins of clients; "+
		"%d messages found again; after a start listening in at most %v, recovered in at most %v",
		k.kills, loads.accepted, missing, r.Unique, r.Doubled, float64(r.Doubled)/float64(k.kills), k.most, loads.logins,
		k.recovered, k.ready.Round(time.Millisecond), k.moved.Round(time.Millisecond))
}

// doubled fails the test if more messages have arrived twice than were under way at the
// kills so far. Those of a kill may arrive after the next one.
func (k *killing) doubled(t *testing.T, sink *loadtest.Sink) {
	n := sink.Result().Doubled
	k.most = max(k.most, n-k.last)
	k.last = n
	limit := int64(k.kills * killSessions * killWindow)
	if k.fails {
		limit = 0
	}
	if n > limit {
		t.Errorf("%d messages have arrived twice after %d kills, more than %d", n, k.kills, limit)
	}
}

// serves waits until a process serves, and leads the clients to it.
func (k *killing) serves(p *process.Process, loads *stubborn) {
	e := p.Wait("listening")
	p.Wait("serving")
	loads.to.Store(&e.Address)
	k.ready = max(k.ready, e.After)
}

// ended fails the test if a process has logged errors.
func (k *killing) ended(t *testing.T, p *process.Process) {
	for _, line := range p.Problems() {
		t.Errorf("after %d kills: %s", k.kills, line)
	}
	if e, ok := p.Logged("messages of earlier runs are in their queues again"); ok {
		k.recovered += e.Messages
		k.moved = max(k.moved, e.After)
	}
}

// endsOf returns how many events there are, and how many are of messages that were sent. It fails
// the test if a number is missing or is there twice, or if a message has ended twice.
func endsOf(t *testing.T, dir string) (sent, all int64) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "events*"))
	if err != nil {
		t.Fatal(err)
	}
	numbers, ids := map[uint64]bool{}, map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			var e struct {
				Number          uint64
				ID, Kind, State string
			}
			if json.Unmarshal(line, &e) != nil || e.Number == 0 {
				continue // the file with the last number
			}
			if e.Kind == "refund" { // of a message that has an event
				e.ID = "refund of " + e.ID
			}
			if numbers[e.Number] || ids[e.ID] {
				t.Errorf("twice: %s", line)
			}
			numbers[e.Number], ids[e.ID] = true, true
			if all++; e.State == "sent" {
				sent++
			}
		}
	}
	for n := range uint64(all) {
		if !numbers[n+1] {
			t.Errorf("event %d of %d is missing", n+1, all)
			break
		}
	}
	return sent, all
}

// isEmpty fails the test if messages are left in a store.
func isEmpty(t *testing.T, dir string) {
	t.Helper()
	s, err := store.Open(dir, store.Options{Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	left := 0
	if _, err := s.Scan(0, 1<<30, func(*store.Entry) error { left++; return nil }); err != nil {
		t.Fatal(err)
	}
	if n := s.Stats().Messages; left != 0 || n != 0 {
		t.Errorf("%d messages are left in the store, which counts %d", left, n)
	}
}

// stubborn is clients that connect again when their connection breaks, and go on with
// other messages. What was not answered then is not sent again: it is unknown whether it was
// accepted.
type stubborn struct {
	rate   float64 // messages a second of clients that may be throttled; 0: as many as are answered, and none is throttled
	to     atomic.Pointer[string]
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu       sync.Mutex
	results  []*loadtest.LoadResult
	logins   int
	accepted int64
}

func startStubborn(clients int) *stubborn { return startThrottled(clients, 0) }

// startThrottled is startStubborn for clients that may be throttled, every second of which sends long messages.
func startThrottled(clients int, rate float64) *stubborn {
	return startThrottledOf(slices.Repeat([]string{loadtest.DefaultLoadOptions().SystemID}, clients), rate)
}

// startThrottledOf is startThrottled for a client of each account.
func startThrottledOf(accounts []string, rate float64) *stubborn {
	ctx, cancel := context.WithCancel(context.Background())
	s := &stubborn{cancel: cancel, rate: rate}
	for i, account := range accounts {
		s.wg.Go(func() { s.run(ctx, account, int64(i)*1_000_000_000) })
	}
	return s
}

func (s *stubborn) run(ctx context.Context, account string, first int64) {
	for ctx.Err() == nil {
		o := loadtest.DefaultLoadOptions()
		o.SystemID = account
		o.Window, o.Duration, o.First, o.Timeout, o.Rate = 20, time.Hour, first, testutil.Patience, s.rate
		if s.rate > 0 && first/1_000_000_000%2 == 1 {
			o.Size = 200
		}
		to := s.to.Load()
		if to == nil {
			time.Sleep(5 * time.Millisecond)
			continue
		}
		o.To = *to
		r, err := loadtest.Load(ctx, o)
		if err != nil { // there is no gateway at present
			time.Sleep(5 * time.Millisecond)
			continue
		}
		first += r.Messages
		s.mu.Lock()
		s.results = append(s.results, r)
		s.logins++
		s.accepted += r.Accepted
		s.mu.Unlock()
	}
}

// end ends the clients when their messages are answered.
func (s *stubborn) end() {
	s.cancel()
	s.wg.Wait()
}

// stop is end for clients none of whose messages may be refused.
func (s *stubborn) stop(t *testing.T) {
	s.end()
	for _, r := range s.results {
		if r.Refused+r.Unexpected != 0 || r.Throttled != 0 && s.rate == 0 || r.GaveUp {
			t.Errorf("a client: %q, %v, gave up: %v", r.Problems(), r.Statuses, r.GaveUp)
		}
	}
}

// missing returns how many accepted messages have not arrived.
func (s *stubborn) missing(seen *loadtest.SinkResult) (n int64) {
	for _, r := range s.results {
		n += loadtest.Compare(r, seen).Missing
	}
	return n
}
