package privacy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pmg/config"
	"pmg/events"
	"pmg/internal/logfile"
	"pmg/pdulog"
	"pmg/sms"
	"pmg/store"
)

// A queue has messages, of which some are under way. One that is cancelled leaves a receipt behind, if it is to.
type queue struct {
	waiting  []*sms.Message
	receipts []*sms.Message // which come when something was cancelled, one at a time
	underWay int64
	fail     error
}

// Cancel implements Messages.
func (q *queue) Cancel(_ context.Context, is func(*sms.Message) bool, dry bool) (n, underWay int64, err error) {
	if q.fail != nil {
		return 0, 0, q.fail
	}
	left := slices.DeleteFunc(slices.Clone(q.waiting), is)
	n = int64(len(q.waiting) - len(left))
	if !dry {
		q.waiting = left
		if n > 0 && len(q.receipts) > 0 {
			q.waiting, q.receipts = append(q.waiting, q.receipts[0]), q.receipts[1:]
		}
	}
	return n, q.underWay, nil
}

func message(source, dest string) *sms.Message {
	m := &sms.Message{}
	m.Set(sms.Address{TON: 1, Addr: []byte(source)}, sms.Address{TON: 1, Addr: []byte(dest)}, []byte("hello"))
	return m
}

// A house is all places where a person is: queues, a store, pdu logs and events.
type house struct {
	*Places
	dir   string
	queue *queue
	store store.Store
	steps []string
}

const (
	ann    = "46701740605"
	bob    = "46701740606"
	event  = `{"number":%d,"id":"1a1fb0c12c230d41","kind":"submit","account":"acme","source":"1234","destination":"%s","parts":1}` + "\n"
	submit = "2026-11-01T10:00:00.000000Z clients/1 < submit_sm seq=1 source_addr=ACME destination_addr=%s short_message=\"hi\" account=acme\n"
)

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{dir: t.TempDir(), queue: &queue{}}
	var err error
	if h.store, err = store.Open(filepath.Join(h.dir, "store"), store.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.store.Close() })
	stamp := time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC).Format(logfile.StampLayout)
	for name, text := range map[string]string{
		"events/events-" + stamp + ".log":   fmt.Sprintf(event, 1, ann) + fmt.Sprintf(event, 2, bob),
		"pdulog/clients-" + stamp + ".log":  fmt.Sprintf(submit, ann) + fmt.Sprintf(submit, bob) + fmt.Sprintf(submit, ann),
		"pdulog/operator-" + stamp + ".log": fmt.Sprintf(submit, bob),
	} {
		path := filepath.Join(h.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	l, err := events.OpenFiles(filepath.Join(h.dir, "events"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	h.Places = &Places{
		PDULogs: pdulog.NewDir(filepath.Join(h.dir, "pdulog"), pdulog.Options{}), Events: l, Decoder: pdulog.NewDecoder(smppOnly),
		Messages: h.queue, Notes: &changing{store.EraserOf(h.store), t, h.store, nil},
		Left: []Left{{Where: "log", Why: "nobody knows"}},
	}
	return h
}

func (h *house) forget(ctx context.Context, t *testing.T, dry bool) (*Report, error) {
	t.Helper()
	h.steps = nil
	return h.Forget(ctx, numbers(t, ann), dry, func(what string) { h.steps = append(h.steps, what) })
}

// has returns how often a number is in the logs.
func (h *house) has(t *testing.T, number string) (n int) {
	t.Helper()
	for _, dir := range []string{"events", "pdulog"} {
		files, err := filepath.Glob(filepath.Join(h.dir, dir, "*.log"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			n += strings.Count(string(b), number)
		}
	}
	return n
}

// note adds a note of the store about a message to a number.
func (h *house) note(t *testing.T, id uint64, number string) { h.priced(t, id, number, 0) }

func (h *house) priced(t *testing.T, id uint64, number string, price sms.Money) {
	t.Helper()
	v := store.Mapping{ID: id, Price: price, Account: []byte("acme"), Dest: sms.Address{TON: 1, Addr: []byte(number)}}
	var b store.Batch
	b.Note(store.IDsOf("smsc"), fmt.Appendf(nil, "%08d", id), v.Append(nil), 7)
	if err := h.store.Commit(&b); err != nil {
		t.Fatal(err)
	}
}

// removed returns the counts of a report by what, over all places.
func removed(r *Report) map[string]int64 {
	all := map[string]int64{}
	for _, one := range r.Removed {
		all[one.What] += one.Count
	}
	return all
}

// A person is removed from everywhere, also from what a cancelled message leaves behind, and others stay. A dry run counts the same,
// and changes nothing. A second run finds nothing.
func TestForget(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for range 2 {
		h.queue.waiting = append(h.queue.waiting, message("1234", ann), message("1234", bob))
	}
	h.queue.receipts = []*sms.Message{message(ann, "1234")}
	const many = 2*atOnce + 7
	for id := range uint64(many) {
		h.note(t, id, ann)
	}
	h.note(t, many, bob)

	dry, err := h.forget(t.Context(), t, true)
	if err != nil || !dry.DryRun || dry.Numbers != 1 || dry.Files < 3 || dry.Octets < 500 {
		t.Errorf("%+v, %v", dry, err)
	}
	if got := removed(dry); got["messages"] != 2 || got["notes"] != many || got["lines"] != 3 || h.has(t, ann) != 3 || len(h.queue.waiting) != 4 {
		t.Errorf("%v, in logs %d times, %d wait", got, h.has(t, ann), len(h.queue.waiting))
	}
	if text := dry.String(); !strings.HasPrefix(text, fmt.Sprintf("%d files were read, %d octets\n", dry.Files, dry.Octets)) ||
		!strings.Contains(text, "queues: 2 messages would be removed\n") || !strings.HasSuffix(text, "left: log: nobody knows\n") {
		t.Error(text)
	}

	done, err := h.forget(t.Context(), t, false)
	if err != nil || done.DryRun || done.Files < 3 || done.Octets != dry.Octets {
		t.Errorf("%+v, %v", done, err)
	}
	if got := removed(done); got["messages"] != 3 || got["notes"] != many || got["lines"] != 3 || h.has(t, ann) != 0 || h.has(t, bob) != 3 || len(h.queue.waiting) != 2 {
		t.Errorf("%v, in logs %d and %d times, %d wait", got, h.has(t, ann), h.has(t, bob), len(h.queue.waiting))
	}
	if text := done.String(); !strings.Contains(text, "queues: 3 messages removed\n") || strings.Contains(text, "operator") {
		t.Error(text)
	}
	if len(h.steps) < 6 || h.steps[0] != "messages that wait" || h.steps[1] != "notes of the store" || h.steps[2] != "the store's files" {
		t.Errorf("%q", h.steps)
	}

	again, err := h.forget(t.Context(), t, false)
	if err != nil || len(again.Removed) > 0 || !strings.Contains(again.String(), "nothing was found\n") {
		t.Errorf("%+v, %v", again, err)
	}
}

// What is under way, and a file that cannot be rewritten, are left, and the rest is done. The report says so.
func TestForgetLeaves(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.queue.underWay = 1
	damaged := filepath.Join(h.dir, "pdulog", "aside-"+time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC).Format(logfile.StampLayout)+".log.zst")
	if err := os.WriteFile(damaged, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := h.forget(t.Context(), t, false)
	if err != nil || h.has(t, ann) != 0 || len(r.Left) != 3 || r.Left[0].Failed || !r.Left[1].Failed || !r.Left[2].Failed {
		t.Errorf("%+v, %v", r, err)
	}
	if r.Left[1].Why != "1 messages are under way: ask again when they have ended" || r.Left[2].Where != damaged || r.Files < 3 {
		t.Errorf("%+v", r)
	}
}

// A fault ends it, and the report has what was done. So does a request that is given up, also while it waits for the log.
func TestForgetEnds(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.queue.fail = errors.New("the gateway stops")
	if _, err := h.forget(t.Context(), t, false); !errors.Is(err, h.queue.fail) || !strings.HasPrefix(err.Error(), "cannot forget all: ") || h.has(t, ann) != 3 {
		t.Errorf("%v, in logs %d times", err, h.has(t, ann))
	}
	h.queue.fail, h.queue.waiting = nil, []*sms.Message{message("1234", ann)}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h.Settle = time.Hour
	if r, err := h.forget(ctx, t, false); !errors.Is(err, context.Canceled) || removed(r)["messages"] != 1 || h.has(t, ann) != 3 {
		t.Errorf("%+v, %v, in logs %d times", r, err, h.has(t, ann))
	}
	h.Settle, h.Notes = 0, nil
	ctx, cancel = context.WithCancel(t.Context())
	h.Events = &endingLogs{h.Events, cancel}
	if r, err := h.forget(ctx, t, false); !errors.Is(err, context.Canceled) || h.has(t, ann) != 2 {
		t.Errorf("%+v, %v, in logs %d times", r, err, h.has(t, ann))
	}
	lacking := &Places{}
	if r, err := lacking.Forget(t.Context(), numbers(t, ann), false, func(string) {}); err != nil || len(r.Removed) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// failing are logs that cannot be closed, or listed.
type failing struct {
	Logs
	close, list error
}

func (f *failing) CloseFiles(context.Context) error { return f.close }

func (f *failing) Files(bool) ([]logfile.Segment, error) { return nil, f.list }

// Logs that cannot be closed, or listed, are an error, because numbers stay in them.
func TestForgetNoFiles(t *testing.T) {
	t.Parallel()
	fault := errors.New("the disk is gone")
	for name, change := range map[string]func(*house){
		"events stay open":       func(h *house) { h.Events = &failing{h.Events, fault, nil} },
		"pdu logs stay open":     func(h *house) { h.PDULogs = &failing{h.PDULogs, fault, nil} },
		"events are not known":   func(h *house) { h.Events = &failing{h.Events, nil, fault} },
		"pdu logs are not known": func(h *house) { h.PDULogs = &failing{h.PDULogs, nil, fault} },
	} {
		h := newHouse(t)
		change(h)
		if _, err := h.forget(t.Context(), t, false); !errors.Is(err, fault) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A message is of a person if it goes to them, or comes from them, as it is or as its client has submitted it.
func TestIsOf(t *testing.T) {
	t.Parallel()
	f := &forgetting{of: numbers(t, ann)}
	rewritten := func(source, dest string) *sms.Message {
		m := message("1", bob)
		s := sms.Submitted{Source: sms.Address{TON: 1, Addr: []byte(source)}, Dest: sms.Address{TON: 1, Addr: []byte(dest)}}
		m.SetSubmitted(&s)
		return m
	}
	national := message("1", "701740605")
	national.DestTON = nationalType
	for name, c := range map[string]struct {
		m    *sms.Message
		want bool
	}{
		"to":                       {message("1", ann), true},
		"from":                     {message(ann, "1"), true},
		"others":                   {message("1", bob), false},
		"national":                 {national, true},
		"no country code":          {message("1", "701740605"), false},
		"submitted to":             {rewritten("1", ann), true},
		"submitted from":           {rewritten(ann, "1"), true},
		"submitted between others": {rewritten("1", bob), false},
	} {
		if got := f.isOf(c.m); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Places that are left are named, each with what to do.
func TestLeftBy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "copy-1"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := &config.Config{}
	where := func() (all []string) {
		for _, l := range LeftBy(cfg) {
			all = append(all, l.Where)
			if l.Why == "" || l.Failed {
				t.Errorf("%+v", l)
			}
		}
		return all
	}
	if got := where(); !slices.Equal(got, []string{"log"}) {
		t.Errorf("%q", got)
	}
	cfg.Admin.Audit, cfg.Store.Backups, cfg.Cluster.Node, cfg.Telemetry.OTLP = "audit", dir, "a", "http://192.0.2.1"
	if got := where(); !slices.Equal(got, []string{"log", "audit", filepath.Join(dir, "copy-1"), "cluster", "http://192.0.2.1"}) {
		t.Errorf("%q", got)
	}
	if got := numbers(t, "+"+bob, ann).All(); !slices.Equal(got, []string{ann, bob}) {
		t.Errorf("%q", got)
	}
}
