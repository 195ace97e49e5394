package member

import (
	"strings"
	"testing"
	"time"

	"pmg/cluster/report"
)

// The status ends with what operators should know beside the nodes.
func TestWriteStatus(t *testing.T) {
	t.Parallel()
	now := time.Now()
	all := []report.State{{Node: "a", State: "owner", At: now}, {Node: "b", State: "standby", At: now}}
	var out strings.Builder
	if err := writeStatus(&out, "a", 3, all, nil, now); err != nil || strings.Count(out.String(), "\n") != 5 {
		t.Errorf("%v\n%s", err, out.String())
	}
	out.Reset()
	if err := writeStatus(&out, "a", 3, all, []string{"63 % is used", "server n1\x1b says"}, now); err != nil ||
		!strings.HasSuffix(out.String(), "-\n\n63 % is used\nserver n1? says\n") {
		t.Errorf("%v\n%s", err, out.String())
	}
}
