package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

func pullSite(t *testing.T) site {
	return site{
		operator: newSMSC(t), store: vfs.NewMem(),
		more:     `{name: api, direction: in, protocol: http, address: "127.0.0.1:0"}`,
		accounts: "{system_id: api, password: s3cret, bind: [transmitter], pull: true}\n{system_id: other, password: s3cret}",
		routes:   "{from: operator, to: {account: api}}\n{to: operator}",
	}
}

// events fetches events, and returns their ids and types.
func (a *api) events(query string) (ids, types []string) {
	a.t.Helper()
	var got struct {
		Events []struct{ ID, Type string }
	}
	if err := json.Unmarshal([]byte(a.do("GET", "/v1/events?"+query, "").want(a.t, 200, "").body), &got); err != nil {
		a.t.Fatal(err)
	}
	for _, e := range got.Events {
		ids, types = append(ids, e.ID), append(types, e.Type)
	}
	return ids, types
}

// acknowledges says that the client has events, and returns those that are not known.
func (a *api) acknowledges(ids ...string) string {
	a.t.Helper()
	return a.do("POST", "/v1/events:ack", fmt.Sprintf(`{"ids": ["%s"]}`, strings.Join(ids, `","`))).want(a.t, 200, "").body
}
