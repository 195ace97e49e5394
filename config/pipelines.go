package config

// Pipelines is a number of pipelines, or AutoPipelines.
type Pipelines int

// AutoPipelines is a number that follows from the processors of the machine.
const AutoPipelines = Pipelines(auto)

const mostPipelines = 64

// Number returns how many pipelines there are on a machine with so many processors. AutoPipelines leaves one processor
// for the store and one for everything else.
func (p Pipelines) Number(processors int) int {
	if p == AutoPipelines {
		return min(max(processors-2, 1), mostPipelines)
	}
	return max(int(p), 1)
}

// String returns the number as written in a file.
func (p Pipelines) String() string {
	return numberOrAuto(p).String()
}

// Kind implements option.Word.
func (Pipelines) Kind() string { return numberOrAutoKind(mostPipelines) }

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Pipelines) UnmarshalText(text []byte) error {
	n, err := parseNumberOrAuto(text, mostPipelines)
	if err == nil {
		*p = Pipelines(n)
	}
	return err
}
