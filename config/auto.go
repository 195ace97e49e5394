package config

import (
	"fmt"
	"strconv"
)

// A numberOrAuto is a positive number, or auto.
type numberOrAuto int

const (
	auto     numberOrAuto = -1
	autoWord              = "auto"
)

// String returns the number as written in a file.
func (n numberOrAuto) String() string {
	if n == auto {
		return autoWord
	}
	return strconv.Itoa(int(n))
}

// numberOrAutoKind describes the values of an option for people.
func numberOrAutoKind(most int) string { return fmt.Sprintf("1 to %d, or auto", most) }

// parseNumberOrAuto reads a number from 1 to most, or auto.
func parseNumberOrAuto(text []byte, most int) (numberOrAuto, error) {
	if string(text) == autoWord {
		return auto, nil
	}
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("must be a whole number from 1 to %d, or auto, not %q", most, text)
	}
	return numberOrAuto(n), nil
}
