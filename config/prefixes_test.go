package config

import (
	"slices"
	"strings"
	"testing"
)

// U18: a route takes the prefixes of a list and of a file.
func TestPrefixes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "prefixes", "# Sweden\n4670\n+4673 # and this\n\n", 0o600)
	write(t, dir, "table", "Dial code;Operator\r\n+4670;A\r\n\"4673, 46761-46763\";B\r\n070;C\r\n", 0o600)
	load := func(route string) (*Config, error) {
		path := write(t, dir, "pmg.yaml", `connectors: [{name: operator, direction: out, address: "h:1", system_id: pmg, bind: transmitter}]
routes:
  - {`+route+`, to: operator}
  - {to: operator}
`, 0o600)
		c, warnings, err := Load(path, speaksSMPP)
		if len(warnings) > 0 {
			t.Errorf("%s: warnings %v", route, warnings)
		}
		return c, err
	}
	for route, want := range map[string][]string{
		`destination: "46"`:                                           {"46"},
		`destination: ["46", "+47"]`:                                  {"46", "47"},
		`destination_file: prefixes`:                                  {"4670", "4673"},
		`destination: "45", destination_file: "` + dir + `/prefixes"`: {"45", "4670", "4673"},
		`source: "46"`:                                                {""},
		`destination_file: table`:                                     {"4670", "4673", "46761", "46762", "46763", "070"},
	} {
		if c, err := load(route); err != nil || !slices.Equal(c.Routes[0].Prefixes(), want) {
			t.Errorf("%s: error %v, %+v", route, err, c)
		}
	}
	write(t, dir, "letters", "46\n47x\n46709-46700\n", 0o600)
	write(t, dir, "empty", "# nothing\n", 0o600)
	for route, want := range map[string]string{
		`destination: ["46", 47x]`:  `routes[line 3].destination[1] must be digits, not "47x"`,
		`destination_file: none`:    `routes[line 3].destination_file cannot be used: cannot read prefixes ` + dir + `/none: file does not exist: make the file`,
		`destination_file: letters`: `routes[line 3].destination_file cannot be used: ` + dir + `/letters:2: cannot read "47x": column prefix: the number "47x" must be digits; 1 more lines cannot be read`,
		`destination_file: empty`:   `routes[line 3].destination_file cannot be used: ` + dir + `/empty has no prefix: write one in each line`,
		`destination_file: "."`:     `it is not a regular file`,
	} {
		if _, err := load(route); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %s", route, err, want)
		}
	}

	// A reload reads the file again, and Diff reports a change of it as one of routes.
	before, err := load(`destination_file: prefixes`)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "prefixes", "4670\n", 0o600)
	after, err := load(`destination_file: prefixes`)
	if err != nil {
		t.Fatal(err)
	}
	if d := before.Diff(after); len(d) != 1 || d[0].Path != "routes[line 3].destination_file" || !d[0].Live {
		t.Errorf("changes are %v", d)
	}
	if live := after.LiveFrom(before); !slices.Equal(live.Routes[0].Prefixes(), []string{"4670"}) {
		t.Errorf("in force: %v", live.Routes[0].Prefixes())
	}
}
