package e2e

import (
	"testing"

	"pmg/internal/testkit/testutil"
)

// A connection from an address that is not in networks of its in connector is closed before anything
// is read, and the log says why.
func TestNetworksOfClients(t *testing.T) {
	parallel(t)
	far := start(t, site{clients: "networks: [192.0.2.0/24, \"2001:db8::/32\"]"})
	far.dial("clients").wantEOF()
	testutil.Eventually(t, "the log says so", func() bool { return far.log.count("127.0.0.1", "is not in networks") == 1 })
	near := start(t, site{clients: "networks: [192.0.2.0/24, 127.0.0.1]"})
	near.bind("transmitter").fence()
}
