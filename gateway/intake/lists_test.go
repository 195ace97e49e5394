package intake

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmg/sms"
)

// An opt-out is stored before its message goes on. A message that is refused by it is the next one to the mobile.
func TestOptOutIsStored(t *testing.T) {
	t.Parallel()
	general := strings.Replace(listed(t, "9"), "}]", ", opt_out_from: [operator]}]", 1)
	p := newPlace(t, general, "block: [numbers]", "", toOperator)
	p.Steps = p.Steps[1:] // behind the rate
	s := p.submission(Delivered, sms.MO, func(m *sms.Message) {
		m.Set(sms.Address{Addr: []byte("46700000001")}, sms.Address{Addr: []byte("1234")}, []byte("Stop"))
	})
	if v := p.Take(now, s); v != Later || s.Work == nil {
		t.Fatalf("verdict %d, %s", v, s.Code)
	}
	s.Do()
	if v := p.Take(now, s); v != Pass || s.Lane == nil {
		t.Errorf("verdict %d, %s", v, s.Code)
	}
	s = p.submission(Submitted, sms.Submit, nil)
	if v := p.Take(now, s); v != Refuse || s.Code != sms.Blocked {
		t.Errorf("the next: verdict %d, %s", v, s.Code)
	}
}

// listed returns the option of a list with an entry.
func listed(t *testing.T, entry string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "numbers.txt")
	if err := os.WriteFile(file, []byte(entry+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return "lists: [{name: numbers, file: " + file + "}]"
}
