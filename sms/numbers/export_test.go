package numbers

import (
	"bytes"
	"encoding/csv"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"pmg/sms/number"
)

// An export is a table that spreadsheets take for texts, and a list can be made of it again.
func TestExport(t *testing.T) {
	t.Parallel()
	l := open(t, "46701740605\n0701\n468*\nACME\nPMG*\n=CMD()\n12345678901234567890\n")
	if err := os.WriteFile(l.Path()+ChangesSuffix, []byte("+46702\n+#5 TEXT\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for reason, n := range map[string]string{"=cmd|' /C calc'!A0": "46711", "a \"quote\", a comma; # no comment": "46712", "@x": "46713", "-1": "46714", "åäö 日本": "46715"} {
		if _, err := l.Add(Origin{At: morning, Source: API, Who: "token ops", Reason: reason}, n); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Remove(Origin{At: morning, Source: Start, Who: "operator", ID: "a1"}, "46701740605"); err != nil {
		t.Fatal(err)
	}
	var all, on bytes.Buffer
	if err := errors.Join(l.WriteCSV(t.Context(), &all, true, nil), l.WriteCSV(t.Context(), &on, false, nil)); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(all.Bytes())).ReadAll()
	if err != nil || !slices.Equal(rows[0], exported) || len(rows) != 1+7+7 {
		t.Fatal(rows, err)
	}
	for _, row := range rows[1:] {
		for _, cell := range row {
			if cell != "" && strings.Contains("=+-@", cell[:1]) {
				t.Errorf("a formula: %q", row)
			}
		}
	}
	for _, want := range []string{
		"46701740605,no,2026-11-30T09:14:03Z,start,operator,a1,\r\n", "468*,yes,,,,,\r\n", "46702,yes,,,,,\r\n", "'=CMD(),yes,,,,,\r\n",
		"46711,yes,2026-11-30T09:14:03Z,api,\"token ops\",,\"'=cmd|' /C calc'!A0\"\r\n",
	} {
		if !strings.Contains(all.String(), want) || strings.Contains(on.String(), want) == strings.Contains(want, ",no,") {
			t.Errorf("%q\n%s", want, all.String())
		}
	}
	again := open(t, on.String())
	for _, n := range []string{"46702", "46711", "46712", "46713", "46714", "46715", "0701", "4689", "acme", "PMG1", "#5 text", "12345678901234567890"} {
		if !again.Has(number.Read(n)) {
			t.Errorf("%s is not on the list that the export makes", n)
		}
	}
	if again.Has(number.Read("46701740605")) || again.Status().Entries != 13 {
		t.Errorf("%+v", again.Status())
	}
}
