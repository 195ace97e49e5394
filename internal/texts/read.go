package texts

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/feature/plural"
)

// formNames returns the plural forms by their names in files.
func formNames() map[string]plural.Form {
	return map[string]plural.Form{
		"other": plural.Other, "zero": plural.Zero, "one": plural.One, "two": plural.Two, "few": plural.Few, "many": plural.Many,
	}
}

// read reads the texts of a file.
func read(data []byte) (map[string]forms, error) {
	d := jsontext.NewDecoder(bytes.NewReader(data))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return nil, errors.Join(errors.New("must be an object of texts"), err)
	}
	all := map[string]forms{}
	for d.PeekKind() == '"' {
		t, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		key := t.String()
		if all[key], err = readForms(d); err != nil {
			return nil, fmt.Errorf("%q: %w", key, err)
		}
	}
	if _, err := d.ReadToken(); err != nil { // it is the end of the object, or what is wrong in its place
		return nil, err
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return nil, errors.New("has something behind its object")
	}
	return all, nil
}

// readForms reads a text, or an object with its plural forms.
func readForms(d *jsontext.Decoder) (f forms, err error) {
	switch d.PeekKind() {
	case '"':
		f[plural.Other], err = readText(d)
		return f, err
	case '{':
	default:
		return f, errors.New("must be a text, or an object with its plural forms")
	}
	if _, err := d.ReadToken(); err != nil {
		return f, err
	}
	for d.PeekKind() == '"' {
		name, err := readText(d)
		if err != nil {
			return f, err
		}
		form, ok := formNames()[name]
		if !ok {
			return f, fmt.Errorf("has a plural form %q: zero, one, two, few, many or other", name)
		}
		if d.PeekKind() != '"' {
			return f, fmt.Errorf("must have a text as its form %s", name)
		}
		if f[form], err = readText(d); err != nil {
			return f, err
		}
	}
	_, err = d.ReadToken()
	return f, err
}

func readText(d *jsontext.Decoder) (string, error) {
	t, err := d.ReadToken()
	if err != nil {
		return "", err
	}
	return t.String(), nil
}
