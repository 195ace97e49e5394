package check

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmg/config"
)

func TestNetworkCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"networks.csv": "prefix;mcc;mnc;name\n4670;240;01;Telia\n46701;240;05;Other\n4670;240;01;Telia\n",
		"bad.csv":      "4670,24001\n4671\n4672,x\n", "other.csv": "4670,SE,24007\n",
		"numbers.txt": "# some\n+46700000001\n46701000001\n46701000002\n4712345678\n", "names.txt": "46701000001\nACME\n",
		"pmg.yaml": "connectors: []\nnetworks: {file: networks.csv}\n", "none.yaml": "connectors: []\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ args, want, err string }{
		{"check DIR/networks.csv", "lines 4, prefixes 3, ranges 0, networks 2, whole countries 0, rows in other ones 1\n  numbers that begin with 4670: network 24001 (Telia)\n  numbers that begin with 46701: network 24005 (Other)\n", ""},
		{"check DIR/bad.csv", "bad.csv:2: cannot read \"4671\": it has 1 columns instead of 2\n", "cannot use DIR/bad.csv: 2 problems"},
		{"check DIR/other.csv", "its first line is not a header", "1 problems"},
		{"check --columns prefix,ignore,network DIR/other.csv", "prefixes 1", ""},
		{"check --columns prefix DIR/other.csv", "", `cannot use --columns: there must be a column "network"`},
		{"check DIR/none.csv", "", "make the file"},
		{"check", "", "it needs the name of a file"},
		{"lookup -c DIR/pmg.yaml +46700000001 46701000000 47701000000", "\"+46700000001\": 24001 (Telia)\n\"46701000000\": 24005 (Other)\n\"47701000000\": unknown\n", ""},
		{"lookup", "", "it needs numbers, and got 0"},
		{"lookup -c DIR/none.yaml 46", "", "the configuration has no networks.file; --table names one"},
		{"lookup --table DIR/other.csv --columns prefix,ignore,network 46700000001", "24007\n", ""},
		{"lookup --table DIR/bad.csv 46700000001", "", "bad.csv:2"},
		{"test -c DIR/pmg.yaml DIR/numbers.txt", "2 (50.0 %): 24005 (Other)\n1 (25.0 %): unknown\n1 (25.0 %): 24001 (Telia)\n", ""},
		{"test -c DIR/pmg.yaml DIR/names.txt", "1 (100.0 %): 24005 (Other)\n", "names.txt:2: cannot read \"ACME\": it is not an international number"},
	} {
		var out bytes.Buffer
		cmd := Networks(func(_ io.Writer, file string) (*config.Config, error) {
			c, _, err := config.Load(file, config.Options{})
			return c, err
		})
		cmd.SetArgs(strings.Fields(strings.ReplaceAll(c.args, "DIR", dir)))
		cmd.SetOut(&out)
		cmd.SetErr(io.Discard)
		err := cmd.Execute()
		switch {
		case !strings.Contains(out.String(), c.want):
			t.Errorf("%s: %q", c.args, out.String())
		case (err == nil) != (c.err == ""), err != nil && !strings.Contains(err.Error(), strings.ReplaceAll(c.err, "DIR", dir)):
			t.Errorf("%s: %v", c.args, err)
		}
	}
}
