package cipher

import (
	"crypto/tls"
	"errors"
)

// Reason returns the reason why a handshake has failed, as text for an operator.
func Reason(err error) string {
	if e := (tls.RecordHeaderError{}); errors.As(err, &e) {
		return "the peer does not speak TLS, and the connector has tls: " + e.Msg
	}
	return "the handshake of TLS has failed: " + err.Error()
}
