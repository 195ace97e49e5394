package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// maxReference is the largest file that a reference may name.
const maxReference = 64 << 10

// expand replaces the references in a value: ${ENV:NAME} by the variable, and
// ${FILE:path} by the file without its last line end.
func expand(s, dir string) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "${")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		reference, after, closed := strings.Cut(rest, "}")
		kind, name, _ := strings.Cut(reference, ":")
		if !closed || name == "" {
			return "", fmt.Errorf("has a ${ that is not a reference: write ${ENV:NAME} or ${FILE:/path}")
		}
		value, err := lookUp(kind, name, dir)
		if err != nil {
			return "", fmt.Errorf("cannot resolve ${%s}: %w", reference, err)
		}
		b.WriteString(value)
		s = after
	}
}

// referenced returns the files that a value refers to.
func referenced(s, dir string) (files []string) {
	for _, rest := range strings.Split(s, "${FILE:")[1:] {
		name, _, _ := strings.Cut(rest, "}")
		files = append(files, resolve(dir, name))
	}
	return files
}

func lookUp(kind, name, dir string) (string, error) {
	switch kind {
	case "ENV":
		value, ok := os.LookupEnv(name)
		if !ok {
			return "", errors.New("the environment has no such variable: set it before pmg starts")
		}
		return value, nil
	case "FILE":
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		text, err := readFile(name, maxReference)
		return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r"), err
	}
	return "", errors.New("write ENV or FILE before the colon")
}
