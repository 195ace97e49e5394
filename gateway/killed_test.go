package gateway

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/gateway/keep"
	"pmg/gateway/roomtest"
	"pmg/sms"
	"pmg/store"
	"pmg/store/ended"
)

// A message that had ended when the gateway was killed, before its delete was committed,
// is forgotten at the next start, and has its event; one that had not ended is there.
func TestForgetKilled(t *testing.T) {
	t.Parallel()
	fs, dir, events := vfs.NewMem(), t.TempDir(), t.TempDir()
	open := func() (*Gateway, *ended.Notes) {
		g, _, _ := start(t, "")
		cfg := *g.Node.Config()
		cfg.Events.Dir = events
		g.Node.SetConfig(&cfg)
		s, err := store.Open("data", store.Options{FS: fs})
		if err != nil {
			t.Fatal(err)
		}
		o, err := ended.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Keep(s, o); err != nil {
			t.Fatal(err)
		}
		return g, o
	}
	g, _ := open()
	share := g.Table.Share(g.Table.LaneOf(g.Table.Connector("operator")), g.Node.Origins.Of("acme", "clients"))
	var ids []uint64
	for range 3 {
		m := g.Node.Messages.Get()
		m.ID, m.Origin = g.Keeper.IDs.Add(1), share.Origin
		m.Set(sms.Address{}, sms.Address{Addr: []byte("46700000001")}, []byte("text"))
		g.Keeper.Put(keep.Accepted{Message: m, Share: share}, nil)
		ids = append(ids, m.ID)
	}
	if err := g.Keeper.Journal.Sync(); err != nil {
		t.Fatal(err)
	}
	// The answer to the second message came, and its delete was not committed.
	g.Keeper.Unsettled.Outcomes.Note(ended.Outcome{ID: ids[1], Code: sms.OK, PeerID: []byte("7")})
	g.Keeper.Unsettled.N.Add(1)
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	g, o := open()
	for i, id := range ids {
		var e store.Entry
		if found, err := g.Keeper.Index.Get(id, &e); err != nil || found == (i == 1) {
			t.Errorf("message %d is there: %v, %v", i, found, err)
		}
	}
	o.Read(func(v ended.Outcome) { t.Errorf("%+v is still noted", v) })
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	g, _ = open() // a further start adds nothing
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	b, err := os.ReadFile(filepath.Join(events, "events.log"))
	want := `{"number":1,"id":"` + sms.FormatID(ids[1]) + `","kind":"submit","state":"sent","reason":"ok","account":"acme","connector":"clients","to_connector":"operator"`
	if err != nil || !strings.HasPrefix(string(b), want) || !strings.Contains(string(b), `"smsc_id":"7"`) || strings.Count(string(b), "\n") != 1 {
		t.Errorf("events: %s %v, want %s", b, err, want)
	}
}

// A message had failed when the gateway was killed: its receipt is given to its lane once; Another
// one had moved and was accepted: its id is noted for the SMSC that accepted it, although the store
// names its old lane.
func TestKilledReceipts(t *testing.T) {
	t.Parallel()
	fs, dir := vfs.NewMem(), t.TempDir()
	open := func(routes string) *Gateway {
		g := startWith(t, fmt.Sprintf(`
pdulog: {enabled: false}
accounts: [{system_id: client, password: secret}]
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0"}
  - {name: a, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret}
  - {name: b, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret}
routes: [{to: [%s]}]
`, routes))
		s, err := store.Open("data", store.Options{FS: fs})
		if err != nil {
			t.Fatal(err)
		}
		o, err := ended.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Keep(s, o); err != nil {
			t.Fatal(err)
		}
		return g
	}
	g := open("a, b")
	share := g.Table.Share(g.Table.LaneOf(g.Table.Connector("a")), g.Node.Origins.Of("client", "clients"))
	for id := range uint64(3) {
		m := g.Node.Messages.Get()
		m.ID, m.Origin, m.Notify = 1+id, share.Origin, sms.NotifySuccess|sms.NotifyFailure
		m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{Addr: []byte("46700000001")}, []byte("text"))
		g.Keeper.Put(keep.Accepted{Message: m, Share: share}, nil)
	}
	if err := g.Keeper.Journal.Sync(); err != nil {
		t.Fatal(err)
	}
	for _, o := range []ended.Outcome{
		{ID: 1, Code: sms.Rejected}, {ID: 2, Code: sms.OK, PeerID: []byte("2"), Lane: ended.HashOf(store.Lane{Connector: "b"})}, {ID: 3, Code: sms.OK, PeerID: []byte("3")},
	} {
		g.Keeper.Unsettled.Outcomes.Note(o)
		g.Keeper.Unsettled.N.Add(1)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	g = open("a") // the lane of b is made when a message is for it
	if n := g.Keeper.Index.(store.Store).Stats().Messages; n != 1 || len(roomtest.Made(g.Keeper)) != 0 {
		t.Errorf("the store has %d messages, want a receipt, which recovery gives to its lane; %d wait for it beside", n, len(roomtest.Made(g.Keeper)))
	}
	for id, operator := range map[string]string{"2": "b", "3": "a"} {
		for _, name := range []string{"a", "b"} {
			if _, ok, err := g.Keeper.Index.Lookup(store.IDsOf(name), []byte(id)); ok != (name == operator) || err != nil {
				t.Errorf("message %s is known of %s: %t, %v", id, name, ok, err)
			}
		}
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// The receipt of a message that had been refused when the gateway was killed waits in its client's
// lane once.
func TestForgetKilledReceipt(t *testing.T) {
	g, _, _ := start(t, "")
	s := store.NewMemory()
	if err := g.Keep(s, nil); err != nil {
		t.Fatal(err)
	}
	share := g.Table.Share(g.Table.ClientLane("client", nil), g.Node.Origins.Of("", "clients"))
	stored := g.Node.Messages.Get()
	stored.Origin, stored.Kind, stored.ID = share.Origin, sms.Receipt, g.Keeper.IDs.Add(1)
	g.Keeper.Outgoing.Give(keep.Own{Share: share, Message: stored})
	g.Keeper.Outgoing.Give(keep.Own{Work: func() {}})
	g.Keeper.Outgoing.LeaveStored()
	if w, _ := g.Keeper.Outgoing.Waiting(); len(w) != 1 || w[0].Work == nil {
		t.Errorf("%+v wait", w)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}
