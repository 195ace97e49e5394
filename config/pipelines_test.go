package config

import "testing"

// A pipeline by itself leaves a processor for the store and one for all else.
func TestPipelines(t *testing.T) {
	for _, c := range []struct {
		text       string
		processors int
		want       int
	}{
		{"auto", 1, 1}, {"auto", 2, 1}, {"auto", 3, 1}, {"auto", 4, 2}, {"auto", 16, 14}, {"auto", 256, 64},
		{"1", 16, 1}, {"8", 2, 8}, {"64", 2, 64},
	} {
		var p Pipelines
		if err := p.UnmarshalText([]byte(c.text)); err != nil || p.String() != c.text || p.Number(c.processors) != c.want {
			t.Errorf("%s on %d processors: %d, %v, %v, want %d", c.text, c.processors, p.Number(c.processors), p, err, c.want)
		}
	}
	for _, text := range []string{"", "0", "-1", "65", "Auto", "1.5"} {
		if err := new(Pipelines).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is a number of pipelines", text)
		}
	}
	if c := Default(); c.Pipelines != AutoPipelines {
		t.Errorf("by default %v", c.Pipelines)
	}
}
