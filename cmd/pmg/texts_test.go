package main

import (
	"bytes"
	"strings"
	"testing"
)

// A reseller gets the texts of the pages from the program, and learns which languages there are.
func TestTextsOfPages(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{"texts": `"Log in": "Log in"`, "texts de": `"Log in": "Anmelden"`} {
		var out bytes.Buffer
		if err := runPMG(&out, strings.Fields(args)...); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%s: %v, without %s", args, err, want)
		}
	}
	if err := runPMG(&bytes.Buffer{}, "texts", "fr"); err == nil || err.Error() != "cannot print texts in fr: there are those in en, de, es" {
		t.Error(err)
	}
}
