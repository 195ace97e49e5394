package testsms

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"pmg/protocols"
	"pmg/sms"
)

// What a PDU writes into the log is read again, texts too.
func TestLog(t *testing.T) {
	t.Parallel()
	var p PDU
	p.Begin(Submit, 7, sms.OK)
	p.Add("to", "46700000001")
	p.Add("none", "")
	p.AddText("text", []byte(`say "hi"`))
	for _, full := range []bool{true, false} {
		line := p.AppendLog(nil, full)
		if full != strings.Contains(string(line), `text="say \"hi\""`) || strings.Contains(string(line), "none") {
			t.Errorf("%t: %s", full, line)
		}
		var q PDU
		if err := New().ParseLog(&q, line); !errors.Is(err, protocols.ErrHidden) {
			t.Error(err)
		}
		if text, ok := q.Text(); ok != full || full && string(text.Octets) != `say "hi"` {
			t.Errorf("%q, %t", text.Octets, ok)
		}
		if again := q.AppendLog(nil, true); q.Sequence() != 7 || q.Command() != Submit || full && string(again) != string(line) {
			t.Errorf("%s, want %s", again, line)
		}
	}
	p.Begin(SubmitAnswer, 7, sms.Rejected)
	line := p.AppendLog(nil, true)
	if string(line) != "test_submit_resp seq=7 status=0xe(TEST_REJECTED)" {
		t.Errorf("%s", line)
	}
	var q PDU
	_ = New().ParseLog(&q, line)
	if q.Status() != uint32(sms.Rejected) || !q.IsAnswer() {
		t.Errorf("status %d", q.Status())
	}
	if err := New().ParseLog(&q, []byte("submit_sm seq=1")); err == nil {
		t.Error("another protocol's line was taken")
	}
}

// docs/http.md lists what the last digits of numbers mean.
func TestDocs(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../docs/http.md")
	if err != nil {
		t.Fatal(err)
	}
	Endings(func(digit int, does string) {
		if row := fmt.Sprintf("| …%d | %s |", digit, does); !strings.Contains(string(b), row) {
			t.Errorf("docs/http.md lacks the row %s", row)
		}
	})
	if EndingOf([]byte("Shop")).State != sms.StateDelivered || EndingOf([]byte("46700000003")).State != sms.StateExpired {
		t.Error("the last digit does not count")
	}
}
