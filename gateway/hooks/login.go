package hooks

import (
	"pmg/plugin"
	"pmg/sms"
)

// A Refusal is the refusal of a login by a plugin. The zero Refusal means that the login is not
// refused.
type Refusal struct{ Plugin, Why string }

// String returns the refusal as the end of a line in the log.
func (r Refusal) String() string {
	if r == (Refusal{}) {
		return ""
	}
	return ": " + r.Plugin + ": " + r.Why
}

// LogIn asks the plugins of the hook login about a client, one after another, until one refuses it.
// failed is called for each plugin without a verdict. LogIn waits for the plugins.
func (h *Hooks) LogIn(m *plugin.Message, failed func(plugin string, err error)) Refusal {
	m.Hook = plugin.Login
	all, from := h.All(), &sms.Origin{Account: m.Account, Connector: m.Connector}
	for i := range all {
		if !all[i].Asks(plugin.Login, from) {
			continue
		}
		d := all[i].Pool.Ask(m)
		if d.Crowded { // a refusal now would look like a wrong password
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
