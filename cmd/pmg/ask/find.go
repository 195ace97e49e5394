package ask

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"pmg/config"
)

// Where a configuration is looked for, in this order, if -c does not name one.
const (
	Variable = "PMG_CONFIG" // environment variable with the path of the configuration
	Here     = "pmg.yaml"
	System   = "/etc/pmg/pmg.yaml"
)

// A Load loads a configuration, and writes its warnings.
type Load func(warnings io.Writer, file string) (*config.Config, error)

// Flag adds the flag -c, whose default is what is found.
func Flag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVarP(file, "config", "c", first(os.Getenv(Variable), Here, System), "the configuration `file`; otherwise $"+Variable+", ./"+Here+" or "+System)
	cmd.Flags().Lookup("config").DefValue = "" // help is the same on every machine
}

// first returns the named file, or else the first of two that exists, or whose directory we may not
// read.
func first(named, here, system string) string {
	if named != "" {
		return named
	}
	if !exists(here) && exists(system) {
		return system
	}
	return here
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return !errors.Is(err, fs.ErrNotExist)
}

// errNone says that there is no configuration anywhere.
var errNone = fmt.Errorf("no configuration: ./%s and %s do not exist; use -c FILE%w", Here, System, notExist{})

// notExist is fs.ErrNotExist without words.
type notExist struct{}

func (notExist) Error() string        { return "" }
func (notExist) Is(target error) bool { return target == fs.ErrNotExist }

// ExplainError returns the error of reading a configuration, in other words if there is none in any place.
func ExplainError(err error, file string) error {
	if file == Here && errors.Is(err, fs.ErrNotExist) && !exists(Here) && !exists(System) {
		return errNone
	}
	return err
}

// IsNone reports whether an error says that there is no configuration anywhere.
func IsNone(err error) bool { return errors.Is(err, errNone) }
