package config

import (
	"slices"

	"pmg/internal/nearest"
	"pmg/protocols"
	"pmg/protocols/httpsms/smsc"
)

// IsHTTPSMSC reports whether the connector leads to an SMSC that is called by HTTP.
func (c *Connector) IsHTTPSMSC() bool { return c.Transport() == ByRequest && c.Direction == Out }

// SMSC returns the SMSC that the connector calls by HTTP, or the problems of its options.
func (c *Connector) SMSC() (*smsc.SMSC, []protocols.Problem) {
	return smsc.New(&c.HTTP, smsc.Identity{Connector: c.Name, Username: c.SystemID, Password: c.Password})
}

// completeSMSC sets the defaults of a connector to an SMSC that is called by HTTP: how texts are split
// depends on the fields of the SMSC's requests.
func completeSMSC(c *Connector, given map[string]bool) {
	if !c.IsHTTPSMSC() || given["long_messages"] {
		return
	}
	switch {
	case c.HTTP.Preset == "pmg":
		c.Text.Long = "pass" // the SMSC itself splits long texts
	case c.HTTP.TakesHeader():
		c.Text.Long = "split8"
	default:
		c.Text.Long = "join"
	}
}

func checkSMSC(d *decoder, c *Connector, path string) {
	if len(c.AllAddresses()) > 0 {
		d.problem(path, "must not have address or listen with protocol: http and direction: out: url says what is called")
	}
	s, problems := c.SMSC()
	d.report(path, problems)
	if s == nil {
		return
	}
	if s.HidesCoding() && c.Text.EncodeAs != "ucs2" && !c.isWithoutUCS2() {
		d.warn(path,
			"does not tell the SMSC which texts are UCS-2, so that it reads these wrong: add {coding}, {data_coding} or "+
				"{charset} to the request, or write {text} in place of the octets, or have all texts sent alike with "+
				"encode_as: ucs2")
	}
	if c.TLS.Enabled && s.Address().Scheme == "http" {
		d.problem(path+".tls", "must not be given with a url that begins with http://")
	}
	if c.HTTP.Request.Login == "basic" && c.SystemID == "" {
		d.problem(path+".system_id", "must be given with request.login: basic")
	}
}

// isWithoutUCS2 reports whether no text is sent in UCS-2.
func (c *Connector) isWithoutUCS2() bool {
	return c.Text.EncodeAs == "shortest" && c.Text.Missing == "refuse"
}

// checkListeners checks which connectors take the callbacks of SMSCs that are called by HTTP.
func checkListeners(d *decoder, x *index, path string, c *Connector) {
	name := c.HTTP.Callbacks.Listener
	if !c.IsHTTPSMSC() || name == "" {
		return
	}
	if on := x.connectors[name]; on != nil && on.Transport() == ByRequest && on.Direction == In {
		return
	}
	takes := slices.DeleteFunc(
		slices.Clone(x.config.Connectors), func(c Connector) bool { return c.Transport() != ByRequest || c.Direction != In },
	)
	names := make([]string, len(takes))
	for i := range takes {
		names[i] = takes[i].Name
	}
	d.problem(path+".callbacks.listener", "must be an in connector with protocol: http%s", nearest.Hint(name, names))
}

// checkTest checks a connector that leads to no SMSC.
func checkTest(d *decoder, c *Connector, path string) {
	d.warn(path, "leads to no SMSC: its messages do not leave, because protocol is test")
	if c.Direction == In {
		d.problem(path+".direction", "must be out with protocol: test, which stands in for an SMSC")
	}
	if len(c.AllAddresses()) > 0 {
		d.problem(path, "must not have address or listen with protocol: test, which connects to nothing")
	}
	if c.TLS.Enabled {
		d.problem(path+".tls", "must not be given with protocol: test, which connects to nothing")
	}
}
