package packaging

import "embed"

//go:embed examples/operator.yaml examples/reseller.yaml examples/dev.yaml examples/optouts.txt examples/prices.csv
var examples embed.FS

// Example returns the text of a file of examples that comes with the program. It reports false if none has the name.
func Example(name string) (string, bool) {
	text, err := examples.ReadFile("examples/" + name)
	return string(text), err == nil
}
