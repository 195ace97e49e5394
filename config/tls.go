package config

import (
	"crypto/tls"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"pmg/internal/tlsfiles"
	"pmg/protocols"
)

// TLS are the options of the encryption of sessions.
type TLS struct {
	Enabled       bool     `yaml:"enabled" default:"false" live:"no" doc:"Whether sessions are encrypted; true where the section is given. tls: true is a section without other options."`
	Certificate   []string `yaml:"certificate" live:"rebind" doc:"A file with our certificate and its chain (PEM). A connector that listens needs one; of several, it shows that of the name asked for (SNI). A changed file is used within a minute."`
	Key           []string `yaml:"key" live:"rebind" doc:"A file with the certificate's private key; with several certificates a list in their order."`
	CA            string   `yaml:"ca" live:"rebind" doc:"A file with the authorities that may have issued an SMSC's certificate, in PEM form; the machine's when empty."`
	ClientCA      string   `yaml:"client_ca" live:"rebind" doc:"A file with the authorities of the certificates of those who connect; none is asked for when empty."`
	RequireClient bool     `yaml:"require_client" default:"false" live:"rebind" doc:"Whether those who connect must have a certificate of client_ca."`
	ServerName    string   `yaml:"server_name" live:"rebind" doc:"The name that an SMSC's certificate must have; the host of its address when empty."`
	Pin           []string `yaml:"pin" live:"rebind" doc:"The public keys that an SMSC's certificate may have, besides being valid: SHA-256 in base64. With insecure, all that is checked."`
	MinVersion    string   `yaml:"min_version" default:"1.3" enum:"1.2|1.3" live:"rebind" doc:"The oldest version of TLS that is spoken. Peers that do not know 1.3 need 1.2."`
	Insecure      bool     `yaml:"insecure" default:"false" live:"rebind" doc:"Whether any certificate of an SMSC is taken, so that whoever is in between can read and change everything. For tests; the log warns."`
}

// Options returns the TLS options of the section, for a connector that listens or for one that connects.
func (t *TLS) Options(listens bool) tlsfiles.Options {
	o := tlsfiles.Options{Certificates: t.Certificate, Keys: t.Key, Oldest: tls.VersionTLS13}
	if t.MinVersion == "1.2" {
		o.Oldest = tls.VersionTLS12
	}
	if listens {
		o.Authorities, o.Require = t.ClientCA, t.RequireClient
	} else {
		o.Authorities, o.ServerName, o.Pins, o.Insecure = t.CA, t.ServerName, t.Pin, t.Insecure
	}
	return o
}

// check returns the problems of the section of a connector that listens or connects. It reads the files.
func (t *TLS) check(listens bool) (all []protocols.Problem) {
	if !t.Enabled {
		return nil
	}
	for _, o := range []struct {
		key              string
		given, ofListens bool
	}{
		{"ca", t.CA != "", false}, {
			"server_name", t.ServerName != "", false,
		}, {"pin", len(t.Pin) > 0, false}, {"insecure", t.Insecure, false},
		{"client_ca", t.ClientCA != "", true}, {"require_client", t.RequireClient, true},
	} {
		switch {
		case !o.given || o.ofListens == listens:
		case listens:
			all = append(
				all,
				protocols.Problem{
					Option: o.key, Warning: true,
					Text: "has no effect on a connector that listens, which checks certificates by client_ca",
				},
			)
		default:
			all = append(
				all,
				protocols.Problem{
					Option: o.key, Warning: true,
					Text: "has no effect on a connector that connects, which checks its SMSC by ca",
				},
			)
		}
	}
	if listens && t.RequireClient && t.ClientCA == "" {
		return append(
			all,
			protocols.Problem{
				Option: "require_client",
				Text:   "needs client_ca: the file of the authority that issues the clients' certificates",
			},
		)
	}
	o := t.Options(listens)
	_, _, err := tlsfiles.Load(&o, listens)
	if at := (*tlsfiles.OptionError)(nil); errors.As(err, &at) {
		all = append(all, protocols.Problem{Option: at.Option, Text: at.Err.Error()})
	}
	return all
}

// complete completes a section that was given: it marks the section as in force, and makes the paths of files
// relative to the directory of the configuration.
func (t *TLS) complete(dir string, given map[string]bool) {
	t.Enabled = t.Enabled || !given["enabled"]
	for _, list := range [][]string{t.Certificate, t.Key} {
		for i := range list {
			list[i] = resolve(dir, list[i])
		}
	}
	t.CA, t.ClientCA = resolve(dir, t.CA), resolve(dir, t.ClientCA)
}

// resolve returns the path of a file that is named in the configuration.
func resolve(dir, name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// Exposed returns the files with passwords or keys that every user of the machine can read.
func (c *Config) Exposed() []string { return c.found.exposed }

// exposed warns of the files with passwords or keys that every user of the machine can read, and returns them.
func exposed(d *decoder, c *Config) (all []string) {
	files := slices.Clone(d.secretFiles)
	for _, t := range c.sectionsTLS() {
		files = append(files, t.Key...)
	}
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		if isPublic(file) {
			d.warn(
				"",
				"%s has passwords or a key, and every user of this machine can read it: chmod o-r %[1]s, or refer to "+
					"passwords with ${ENV:NAME} or ${FILE:/path}",
				file,
			)
			all = append(all, file)
		}
	}
	return all
}

// sectionsTLS returns the sections tls that are in force.
func (c *Config) sectionsTLS() (all []*TLS) {
	for i := range c.Connectors {
		all = append(all, &c.Connectors[i].TLS)
	}
	return slices.DeleteFunc(append(all, &c.Admin.TLS), func(t *TLS) bool { return !t.Enabled })
}

// isPublic reports whether every user of the machine can read a file, by its mode and by those of the directories
// that lead to it.
func isPublic(file string) bool {
	file, err := filepath.EvalSymlinks(file)
	if err == nil {
		file, err = filepath.Abs(file)
	}
	for needs := os.FileMode(0o004); err == nil; needs = 0o001 {
		info, statErr := os.Stat(file)
		if statErr != nil || info.Mode().Perm()&needs == 0 {
			return false
		}
		if filepath.Dir(file) == file {
			return true
		}
		file = filepath.Dir(file)
	}
	return false
}
