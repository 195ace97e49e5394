package e2e

import (
	"flag"
	"os"
	"testing"
)

// TestMain runs the tests, or a gateway as a child of one.
func TestMain(m *testing.M) {
	if os.Getenv(childKey) != "" {
		runChild()
		return
	}
	// More tests run in parallel than usual, because they wait more than they work.
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", "16"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
