package kannel

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"pmg/cmd/pmg/explain"
	"pmg/config"
	"pmg/protocols"
	"pmg/protocols/httpsms"
	"pmg/protocols/smpp"
	"pmg/sms"
	"pmg/sms/rewrite"
)

// unified is what Kannel makes of a number.
func unified(rules, number string) string {
	for group := range strings.SplitSeq(rules, ";") {
		all := strings.Split(group, ",")
		for i, p := range all {
			switch {
			case !strings.HasPrefix(number, p):
			case i == 0:
				return number
			case all[0] == "-":
				return number[len(p):]
			default:
				return all[0] + number[len(p):]
			}
		}
	}
	return number
}

// A unified-prefix makes of each number what Kannel makes of it: what is refused, where it goes, and how it leaves.
func TestUnifiedPrefix(t *testing.T) {
	t.Parallel()
	const seed = 7
	random := rand.New(rand.NewPCG(seed, seed))
	alphabet := []string{"00", "0", "358", "46", "467", "07", "1", "99", "+"}
	number := func() (s string) {
		if random.IntN(3) == 0 {
			s = "+"
		}
		for range 1 + random.IntN(4) {
			s += alphabet[random.IntN(len(alphabet)-1)]
		}
		return s
	}
	rules := func() string {
		groups := make([]string, 1+random.IntN(3))
		for i := range groups {
			all := make([]string, 1+random.IntN(3))
			for j := range all {
				all[j] = alphabet[random.IntN(len(alphabet))]
				if all[j] == "+" && random.IntN(2) == 0 {
					all[j] += "46"
				}
			}
			if random.IntN(8) == 0 {
				all[0] = "-"
			}
			groups[i] = strings.Join(all, ",")
		}
		return strings.Join(groups, ";")
	}
	numbers := []string{"+46701234567", "0401234567", "358401234567", "0046701234567", "00358401", "+358401"}
	for range 40 {
		numbers = append(numbers, number())
	}
	check := func(value string) {
		t.Helper()
		in := load(t, translate(t, core1+fmt.Sprintf("unified-prefix = %q\n", value)+box1)).Connectors[0].RewriteIn()
		for _, number := range numbers {
			var a rewrite.Addresses
			a.Set(sms.Address{}, written(number))
			if in != nil && in.Apply(&a) != sms.OK {
				a.Dest.Addr = nil // nothing is left of it
			}
			if got, want := httpsms.Number(a.Dest), unified(value, number); got != want && strings.Trim(want, "+") != "" {
				t.Errorf("unified-prefix %q makes %s of %s, not %s", value, got, number, want)
			}
		}
	}
	for _, value := range []string{"00358,0;00,+", "+358,00358,0;+,00", "00467,+467,07;00,+"} {
		check(value)
	}
	for range 50 {
		check(rules())
	}
}

// written is an address as a request has it.
func written(number string) sms.Address {
	digits, plus := strings.CutPrefix(number, "+")
	if plus {
		return sms.Address{TON: 1, NPI: 1, Addr: []byte(digits)}
	}
	return sms.Address{NPI: 1, Addr: []byte(digits)}
}

var leaves = regexp.MustCompile(`connector ([a-z]+): from .* to (\d+) \(TON (\d)`)

// Lists of smsbox and its users see the numbers as they come, those of SMSCs what unified-prefix makes of them, and each
// SMSC's own unified-prefix comes last.
func TestUnifiedPrefixAndLists(t *testing.T) {
	t.Parallel()
	const value, own = "00358,0;00,+", "+358,00358"
	for _, lists := range []struct{ box, user string }{{"", ""}, {"0;+", ""}, {"", "0;+"}, {"0;+", "040;+"}} {
		text := core1 + fmt.Sprintf("unified-prefix = %q\n", value) + box1
		if lists.box != "" {
			text += fmt.Sprintf("allowed-prefix = %q\n", strings.ReplaceAll(lists.box, "+", "46"))
		}
		text += user1 + secret
		if lists.user != "" {
			text += fmt.Sprintf("allowed-prefix = %q\n", strings.ReplaceAll(lists.user, "+", "46"))
		}
		text += smpp1 + fmt.Sprintf("port = 1\nallowed-prefix = \"00358\"\nunified-prefix = %q\n", own) + smpp2 + "port = 2\nallowed-prefix = \"0046\"\n"
		c := load(t, translate(t, text))
		for _, number := range []string{"+46701", "0401", "0501", "358401", "0046701", "+358401", "00358401"} {
			allowed := func(list string) bool {
				for p := range strings.SplitSeq(strings.ReplaceAll(list, "+", "46"), ";") {
					if strings.HasPrefix(strings.TrimPrefix(number, "+"), p) { // a list of PMG does not see the '+'
						return true
					}
				}
				return list == ""
			}
			want := "refused"
			switch made := unified(value, number); {
			case !allowed(lists.box) || !allowed(lists.user):
			case strings.HasPrefix(made, "00358"):
				want = "a " + unified(own, made)
			case strings.HasPrefix(made, "0046"):
				want = "b " + made
			}
			answer, err := explain.Ask(c, drivers, explain.Question{Account: "one", From: "1", To: number})
			if err != nil {
				t.Fatal(err)
			}
			got := "refused"
			if found := leaves.FindStringSubmatch(answer); found != nil {
				got = found[1] + " " + strings.Replace("+"+found[2], "+", map[string]string{"1": "+"}[found[3]], 1)
			}
			if got != want {
				t.Errorf("%+v, %s: %s, not %s\n%s", lists, number, got, want, answer)
			}
		}
	}
}

func drivers(protocol string, _ *config.Config) (protocols.Driver, error) {
	if protocol == "http" {
		return httpsms.New(), nil
	}
	return smpp.New(smpp.Options{}), nil
}
