package config

import (
	"fmt"
	"strconv"
)

// Pipelines is a number of pipelines, or AutoPipelines.
type Pipelines int

// AutoPipelines is as many as the machine has processors for.
const AutoPipelines Pipelines = -1

const mostPipelines = 64

// Number returns how many pipelines there are on a machine. By itself a pipeline gets a processor of its own, where one
// is left for the store and one for all else.
func (p Pipelines) Number(processors int) int {
	if p == AutoPipelines {
		return min(max(processors-2, 1), mostPipelines)
	}
	return max(int(p), 1)
}

// String returns the number as written in a file.
func (p Pipelines) String() string {
	if p == AutoPipelines {
		return autoWord
	}
	return strconv.Itoa(int(p))
}

// Kind implements option.Word.
func (Pipelines) Kind() string { return fmt.Sprintf("1 to %d, or auto", mostPipelines) }

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Pipelines) UnmarshalText(text []byte) error {
	n, err := strconv.Atoi(string(text))
	switch {
	case string(text) == autoWord:
		*p = AutoPipelines
	case err != nil || n < 1 || n > mostPipelines:
		return fmt.Errorf("must be a whole number from 1 to %d, or auto, not %q", mostPipelines, text)
	default:
		*p = Pipelines(n)
	}
	return nil
}
