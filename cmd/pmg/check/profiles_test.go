package check

import (
	"strings"
	"testing"
)

func TestProfileCommands(t *testing.T) {
	for _, x := range []struct{ args, out, fault string }{
		{"list", "vonage      Vonage (Nexmo), SMPP.\n", ""},
		{"show vonage", "receipt_ids: decimal", ""},
		{"show vonag", "", "did you mean vonage?"},
		{"show x", "", "pmg profile list"},
	} {
		var out strings.Builder
		cmd := Profiles()
		cmd.SilenceUsage, cmd.SilenceErrors = true, true
		cmd.SetOut(&out)
		cmd.SetArgs(strings.Fields(x.args))
		err := cmd.Execute()
		if !strings.Contains(out.String(), x.out) || (err == nil) != (x.fault == "") || err != nil && !strings.Contains(err.Error(), x.fault) {
			t.Errorf("%s: %v\n%s", x.args, err, out.String())
		}
	}
}
