package config

import (
	"os"
	"path/filepath"
	"slices"
)

// Exposed returns the files with passwords or keys that every user of the machine can read.
func (c *Config) Exposed() []string { return c.exposed }

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
