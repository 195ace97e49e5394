package nearest

import "testing"

func TestWord(t *testing.T) {
	words := []string{"submit_sm", "submit_sm_resp", "ESME_RTHROTTLED", "x"}
	for like, want := range map[string]string{
		"submit_sm": "submit_sm", "submitsm": "submit_sm", "sumbit_sm": "submit_sm", "esme_rthrotled": "ESME_RTHROTTLED",
		"submit_resp": "", "b": "", "": "",
	} {
		if got := Word(like, words); got != want {
			t.Errorf("%q: got %q, want %q", like, got, want)
		}
	}
}
