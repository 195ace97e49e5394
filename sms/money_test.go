package sms

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestMoney(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"10": "10.00", "0.045": "0.045", "-0.5": "-0.50", "0.000001": "0.000001", "007": "7.00", "1000000000000": "1000000000000.00",
		"0": "0.00", "-0": "0.00", "12.340000": "12.34", "-999999999999.999999": "-999999999999.999999",
	} {
		m, ok := ReadMoney(text)
		if !ok || m.String() != want {
			t.Errorf("%s: %s %v", text, m, ok)
		}
		if again, ok := ReadMoney(m.String()); !ok || again != m {
			t.Errorf("%s is read as %s", m, again)
		}
	}
	for _, text := range []string{
		"", "-", ".", "1.", ".5", "0.0000001", "1,5", "1e3", "+1", " 1", "1 EUR", "1.2.3", "--1", "1000000000000.000001", "1-",
		strings.Repeat("9", 30), "18446744073709551621", "1" + strings.Repeat("0", 18) + "5", "9223372036854775807.5", "0." + strings.Repeat("0", 30), "٣",
	} {
		if m, ok := ReadMoney(text); ok {
			t.Errorf("%q is %s", text, m)
		}
	}
	for range 1000 {
		m := Money(rand.Int64N(2*MaxMoney) - MaxMoney)
		if again, ok := ReadMoney(m.String()); !ok || again != m {
			t.Errorf("%d is written as %s", m, m)
		}
	}
}
