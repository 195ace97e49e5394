package sms

import "testing"

func TestNetwork(t *testing.T) {
	t.Parallel()
	for text, country := range map[string]string{"26201": "262", "262001": "262", "310410": "310", "00101": "001", "262": "262"} {
		n, ok := ReadNetwork(text)
		if !ok || !n.IsValid() || n.String() != text || n.Country().String() != country || n.IsCountry() != (text == country) {
			t.Errorf("%s: %d %v %s %s", text, n, ok, n, n.Country())
		}
	}
	for _, text := range []string{"", "2", "26", "2620", "2620011", "262x1", "-2620", "٢٦٢"} {
		if n, ok := ReadNetwork(text); ok || n != 0 {
			t.Errorf("%q: %d", text, n)
		}
	}
	for _, n := range []Network{0, 1, 999, 2000, 99_999, 200_000, 999_999, 2_000_000} {
		if n.IsValid() {
			t.Errorf("%d is a network", n)
		}
	}
	if Network(0).String() != "" || Network(0).IsCountry() {
		t.Error("an unknown network has a name")
	}
}
