package httpsms

import (
	"pmg/protocols"
	"pmg/sms"
)

// ConnectorOptions are the options that a connector has because it speaks HTTP. It implements
// protocols.Options.
type ConnectorOptions struct {
	Dialects []string `yaml:"dialects" default:"pmg" enum:"pmg|kannel|jasmin" only:"in" live:"no" doc:"Whose requests it answers, each at paths of its own: pmg is the API of docs/http.md below /v1/, kannel /cgi-bin/sendsms, jasmin /send and /secure/."`
}

// NewConnectorOptions returns the options of a connector that is given none.
func NewConnectorOptions() *ConnectorOptions { return &ConnectorOptions{Dialects: []string{"pmg"}} }

// BindType implements protocols.Options.
func (*ConnectorOptions) BindType() protocols.BindType { return protocols.Transceiver }

// MaxWindow implements protocols.Options.
func (*ConnectorOptions) MaxWindow() int { return 10_000 }

// Alphabets implements protocols.Options: calls name the alphabet of each text.
func (*ConnectorOptions) Alphabets() sms.Alphabets {
	return sms.NewAlphabets(sms.ASCII, sms.Latin1, sms.UCS2, sms.Binary, sms.Other)
}

// MaxText implements protocols.Options.
func (*ConnectorOptions) MaxText() int { return 0 }

// CheckLogin implements protocols.Options.
func (*ConnectorOptions) CheckLogin(_, _ string) []protocols.Problem { return nil }

// CheckAccount implements protocols.Options.
func (*ConnectorOptions) CheckAccount(_, _ string) []protocols.Problem { return nil }
