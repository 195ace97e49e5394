package nats

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"pmg/internal/testkit/natstest"
	"pmg/store/journal"
)

// The limit that is reached first counts, whether it is of the stream, the account or a server. What has no limit does not.
func TestFullest(t *testing.T) {
	t.Parallel()
	of := func(name string, used uint64, limit int64) server {
		var s server
		s.Server.Name, s.Data.Storage, s.Data.Config.MaxStorage = name, used, limit
		return s
	}
	stream := func(used uint64, limit int64) *jetstream.StreamInfo {
		return &jetstream.StreamInfo{Config: jetstream.StreamConfig{Name: "PMG", MaxBytes: limit}, State: jetstream.StreamState{Bytes: used}}
	}
	account := func(used uint64, limit int64) *jetstream.AccountInfo {
		return &jetstream.AccountInfo{Tier: jetstream.Tier{Store: used, Limits: jetstream.AccountLimits{MaxStore: limit}}}
	}
	for _, c := range []struct {
		stream  *jetstream.StreamInfo
		account *jetstream.AccountInfo
		servers []server
		share   float64
		of      string
	}{
		{stream(50, 100), account(60, 1000), nil, 0.5, "stream PMG"},
		{stream(50, -1), account(600, 1000), nil, 0.6, "account"},
		{stream(50, 100), account(60, -1), []server{of("n1", 10, 100), of("n2", 70, 100)}, 0.7, "server n2"},
		{stream(50, -1), account(60, -1), []server{of("n1", 10, 0)}, 0, ""},
	} {
		if u := fullest(c.stream, c.account, c.servers); u.Share() != c.share || c.share > 0 && !strings.Contains(u.Of, c.of) {
			t.Errorf("%+v of %q, want %v of %q", u, u.Of, c.share, c.of)
		}
	}
}

// The fields of the answer to askJetStream are those of the servers.
func TestServerDecodes(t *testing.T) {
	t.Parallel()
	var s server
	err := json.Unmarshal([]byte(`{"server":{"name":"n1","ver":"2.15.2"},"data":{"storage":6207185,"config":{"max_storage":104857600,`+
		`"sync_always":true}}}`), &s)
	if err != nil || s.Data.Storage != 6207185 || s.Data.Config.MaxStorage != 104857600 || !s.Data.Config.SyncAlways {
		t.Errorf("%+v, %v", s, err)
	}
}

// What servers say that is wrong with them comes with their names.
func TestUnhealthy(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string][]string{
		`{"server":{"name":"n1"},"data":{"status":"ok"}}`: nil,
		`{"server":{"name":"n2"},"data":{"status":"unavailable","status_code":503,"error":"JetStream stream 'PMG > PMG' write error: ` +
			`no space left on device"}}`: {"server n2 says: JetStream stream 'PMG > PMG' write error: no space left on device"},
		`-`: nil,
	} {
		if got := unhealthy([]byte(answer)); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", answer, got, want)
		}
	}
}

// A journal knows how full its stream is, and what the servers say.
func TestFullestOfServer(t *testing.T) {
	t.Parallel()
	n := natstest.New(t, "n1", "always", "").Start()
	o := alone("FULL", n)
	o.MaxOctets = 1 << 20
	j := opened(t, o)
	if _, err := j.Append(journal.ID{Node: 1, Run: 1, Number: 1}, make([]byte, 600<<10)); err != nil {
		t.Fatal(err)
	}
	if u, err := j.Fullest(); err != nil || u.Limit != 1<<20 || u.Share() < 0.5 || u.Share() > 1 || j.Limit() != 1<<20 {
		t.Errorf("%+v, %v", u, err)
	}
	if wrong := Unhealthy(t.Context(), o); len(wrong) > 0 {
		t.Errorf("%q", wrong)
	}
}
