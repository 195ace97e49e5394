package config

import (
	"errors"
	"fmt"
	"io"
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
			return "", fmt.Errorf("has a ${ that is no reference: write ${ENV:NAME} or ${FILE:/path}")
		}
		value, err := lookUp(kind, name, dir)
		if err != nil {
			return "", fmt.Errorf("cannot resolve ${%s}: %w", reference, err)
		}
		b.WriteString(value)
		s = after
	}
}

func lookUp(kind, name, dir string) (string, error) {
	switch kind {
	case "ENV":
		value, ok := os.LookupEnv(name)
		if !ok {
			return "", errors.New("the environment has no such variable: set it where pmg is started")
		}
		return value, nil
	case "FILE":
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return readReference(name)
	}
	return "", errors.New("write ENV or FILE before the colon, because there are no others")
}

// readReference reads a regular file: a pipe or a terminal could block for ever.
func readReference(name string) (string, error) {
	info, err := os.Stat(name)
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("%s does not exist: make the file, or name another", name)
	}
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is not a regular file: name one that is")
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxReference+1))
	if err != nil {
		return "", err
	}
	if len(data) > maxReference {
		return "", errors.New("it is larger than 64 KiB: name a file with nothing but the value")
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r"), nil
}
