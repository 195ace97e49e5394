package intake

import (
	"strings"
	"testing"

	"pmg/sms"
)

// A recipient that cannot be a number of its country is refused, behind the rules for addresses, if it is international and
// the account says so.
func TestPlausible(t *testing.T) {
	t.Parallel()
	const options = `recipients: plausible, rewrite: [{in: destination, prefixes: ["0=+46"]}], duplicates: {within: 1h}`
	for _, c := range []struct {
		options, dest string
		ton           uint8
		why           string
	}{
		{options, "46701740605", 1, ""},
		{options, "0701740605", 2, ""},
		{options, "070174", 2, "has 5 digits after country code 46, which needs 6 to 10 or 12"},
		{options, "460701740605", 1, "has a 0 after country code 46, which is dialled only within the country"},
		{options, "99912345678", 1, "begins with 999, which is not a country code"},
		{options, "+46701740605", 1, ""},
		{options, "+46701", 0, "has 3 digits after country code 46, which needs 6 to 10 or 12"},
		{options, "46701", 0, ""},
		{options, "46701", 3, ""},
		{"", "46701", 1, ""},
	} {
		p := newPlace(t, "", c.options, "", toOperator)
		submit := func() *Submission {
			return p.submit(now, func(m *sms.Message) { m.Set(m.Source(), sms.Address{TON: c.ton, Addr: []byte(c.dest)}, []byte("x")) })
		}
		s := submit()
		if refused := s.Refuser(p.Checker) == "plausible" && s.Code == sms.BadDestination; refused != (c.why != "") || s.Why() != c.why {
			t.Errorf("%+v: %s by %q: %s", c, s.Code, s.Refuser(p.Checker), s.Why())
		}
		if c.why == "" {
			continue
		}
		if !strings.Contains(p.log.String(), "its recipient "+c.why+" (recipients)") {
			t.Errorf("%+v: the log says %s", c, p.log)
		}
		s.Drop()
		if s = submit(); s.Refuser(p.Checker) != "plausible" { // and is no duplicate
			t.Errorf("once more: %s by %q", s.Code, s.Refuser(p.Checker))
		}
		s.Drop()
	}
}
