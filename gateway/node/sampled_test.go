package node

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

const now = int64(1e18)

// Sums of usual events are logged at level info, sums of trouble as warnings.
func TestSumsHaveLevels(t *testing.T) {
	var b bytes.Buffer
	s, log := newStorms(), zerolog.New(&b)
	for range 30 {
		s.Logins.Next("clients", now)
		s.Refusals.Next("clients", now)
	}
	s.SumUp(&log, now+1)
	for _, want := range []string{
		`{"level":"info","connector":"clients","times":10,"message":"in the last minute further clients logged in"}`,
		`{"level":"warn","connector":"clients","times":10,"message":"in the last minute further logins were refused"}`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s\nis not in\n%s", want, &b)
		}
	}
}
