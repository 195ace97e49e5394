package hooks

import (
	"pmg/plugin"
	"pmg/sms"
)

// A Refusal is that a plugin refuses a login. The zero Refusal is none.
type Refusal struct{ Plugin, Why string }

// String returns it as the end of a line in the log.
func (r Refusal) String() string {
	if r == (Refusal{}) {
		return ""
	}
	return ": " + r.Plugin + ": " + r.Why
}

// LogIn asks the plugins of the hook login about a client, one after another, until one refuses it. failed is called with
// each that has no verdict. LogIn waits for them.
func (h *Hooks) LogIn(m *plugin.Message, failed func(plugin string, err error)) Refusal {
	m.Hook = plugin.Login
	all, from := h.All(), &sms.Origin{Account: m.Account, Connector: m.Connector}
	for i := range all {
		if !all[i].Asks(plugin.Login, from) {
			continue
		}
		d := all[i].Pool.Ask(m)
		if d.Crowded { // a client that is refused now is taken for one that guesses
			d.Verdict = all[i].Pool.Instead()
		}
		if d.Failure != nil {
			failed(all[i].Pool.Name, d.Failure)
		}
		if d.Do == plugin.Refuse {
			return Refusal{all[i].Pool.Name, d.Why}
		}
	}
	return Refusal{}
}
