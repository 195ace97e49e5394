package testsms

import (
	"time"

	"pmg/protocols"
	"pmg/sms"
)

// ConnectorOptions are the options that a connector has because it leads to no SMSC. It implements protocols.Options.
type ConnectorOptions struct {
	ReceiptDelay time.Duration `yaml:"receipt_delay" default:"2s" range:"0s..1h" only:"out" live:"yes" doc:"How long after a message the receipt of protocol: test comes; the recipient's last digit is the outcome (docs/http.md, Try it without an SMSC)."`
}

// NewConnectorOptions returns the options of a connector that is given none.
func NewConnectorOptions() *ConnectorOptions { return &ConnectorOptions{ReceiptDelay: 2 * time.Second} }

// BindType implements protocols.Options.
func (*ConnectorOptions) BindType() protocols.BindType { return protocols.Transceiver }

// MaxWindow implements protocols.Options.
func (*ConnectorOptions) MaxWindow() int { return 10_000 }

// Alphabets implements protocols.Options.
func (*ConnectorOptions) Alphabets() sms.Alphabets {
	return sms.NewAlphabets(sms.ASCII, sms.Latin1, sms.UCS2, sms.Binary, sms.Other)
}

// MaxText implements protocols.Options.
func (*ConnectorOptions) MaxText() int { return 0 }

// CheckLogin implements protocols.Options.
func (*ConnectorOptions) CheckLogin(_, _ string) []protocols.Problem { return nil }

// CheckAccount implements protocols.Options.
func (*ConnectorOptions) CheckAccount(_, _ string) []protocols.Problem { return nil }
