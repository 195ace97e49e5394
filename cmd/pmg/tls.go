package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"pmg/cmd/pmg/ask"
	"pmg/internal/tlsfiles"
)

// oneYear is the lifetime of the certificates of pmg tls init.
const oneYear = 365 * 24 * time.Hour

func newTLSCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "tls", Short: "Make certificates for trying TLS"}
	cmd.AddCommand(newTLSInitCommand())
	return cmd
}

func newTLSInitCommand() *cobra.Command {
	var names []string
	cmd := &cobra.Command{
		Use:   "init DIRECTORY",
		Short: "Make an authority, and certificates of it for a server and a client",
		Long: `Makes a directory with the files that the options tls of connectors name, in PEM form: an
authority (ca.pem), a certificate for a connector that listens (server.pem) and one
for a client (client.pem), with their keys (server-key.pem, client-key.pem). They last
a year. The authority's own key is not kept, so nobody can issue further certificates;
make the directory again instead.

They are for trying TLS, and for peers that trust ca.pem because you gave it to them.`,
		Example: "  pmg tls init try\n  pmg tls init certificates --name smpp.example.net --name 192.0.2.1",
		Args:    ask.Exactly(1, "the directory to make"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return initTLS(cmd, args[0], names)
		},
	}
	cmd.Flags().StringSliceVar(&names, "name", nil, "a `name` or an address by which clients reach the server; may be repeated (default: this machine's, and localhost)")
	return cmd
}

func initTLS(cmd *cobra.Command, dir string, names []string) error {
	if len(names) == 0 {
		names = ownNames()
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("cannot make certificates: %w", err)
	}
	file := func(name string) string { return filepath.Join(dir, name) }
	a, err := tlsfiles.NewAuthority("pmg tls init", oneYear)
	if err == nil {
		err = a.Write(file("ca.pem"))
	}
	if err == nil {
		err = a.Issue(file("server.pem"), file("server-key.pem"), oneYear, names...)
	}
	if err == nil {
		err = a.Issue(file("client.pem"), file("client-key.pem"), oneYear, "client")
	}
	if err != nil {
		return fmt.Errorf("cannot make certificates: %w", err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), `Made in %s, for %d names (%s), to last a year:

  ca.pem                       give it to peers: they trust what it has issued
  server.pem, server-key.pem   for an in connector:   tls: {certificate: %s, key: %s}
  client.pem, client-key.pem   for a client, where client_ca is %s
`, dir, len(names), names[0], file("server.pem"), file("server-key.pem"), file("ca.pem"))
	return nil
}

// ownNames returns the names and addresses of this machine.
func ownNames() []string {
	names := []string{"localhost", "127.0.0.1", "::1"}
	if host, err := os.Hostname(); err == nil && host != "localhost" && net.ParseIP(host) == nil {
		names = append([]string{host}, names...)
	}
	return names
}
