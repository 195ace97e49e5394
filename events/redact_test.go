package events_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pmg/events"
	"pmg/gateway/privacy"
	"pmg/pdulog"
)

// An event about somebody stays, without the number. Other events, and those that are damaged, stay as they are.
func TestRedacted(t *testing.T) {
	who, err := privacy.ParseNumbers([]string{"46701740605"})
	if err != nil {
		t.Fatal(err)
	}
	const about = `{"number":7,"id":"1a1fb0c12c230d41","kind":"submit","account":"a\"b","source":"1234","destination":"+46701740605",` +
		`"accepted_at":"2026-11-22T00:50:07.041003Z","status":0,"smsc_id":"46701740605:221126005008","tags":["x","to 46701740605"],"parts":1}`
	want := strings.NewReplacer(
		`"+46701740605"`, `"*"`, `"46701740605:221126005008"`, `"*"`, `"to 46701740605"`, `"*"`,
	).Replace(about)
	of := &pdulog.Redaction{Of: who}
	for line, want := range map[string]string{
		about: want, want: want,
		strings.ReplaceAll(about, "46701740605", "467017406051"):             "",
		`{"number":7,"id":"0000046701740605","destination":"1"}`:             "",
		`{"number":7,"kind":"low_balance","account":"acme"}`:                 "",
		`{"number":7,"destination":"467`:                                     "",
		`{"number":7,"destination":"701740605","source":"0701740605"}`:       `{"number":7,"destination":"*","source":"*"}`,
		`{"number":7,"smsc_id":"\u000146701740605","tags":["n46701740605"]}`: `{"number":7,"smsc_id":"*","tags":["*"]}`,
		`{"number":7,"smsc_id":"701740605"}`:                                 "",
		`no event`:                                                           "",
	} {
		if want == "" {
			want = line
		}
		got, changed := events.AppendRedacted(nil, []byte(line), of)
		if string(got) != want || changed != (want != line) {
			t.Errorf("got  %s (%v)\nwant %s", got, changed, want)
		}
		if json.Valid([]byte(line)) && !json.Valid(got) {
			t.Errorf("%s is no JSON", got)
		}
	}
	got, _ := events.AppendRedacted(nil, []byte(about), &pdulog.Redaction{Numbers: true})
	if strings.Contains(string(got), `"destination":"+4`) || strings.Contains(string(got), `"smsc_id":"4`) || !strings.Contains(string(got), `"source":"1234"`) {
		t.Errorf("without numbers it is %s", got)
	}
}
