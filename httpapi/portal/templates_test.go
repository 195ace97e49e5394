package portal

import (
	"testing"

	"pmg/internal/testkit/templates"
)

// All that templates ask for exists, also in rows that no test's page has.
func TestTemplatesAsk(t *testing.T) {
	t.Parallel()
	templates.Check(t, templateFiles, &view{})
}
