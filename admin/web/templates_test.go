package web

import (
	"testing"

	"pmg/internal/testkit/templates"
)

// All that templates ask for exists, also in rows that no test's page has: the button that tests a webhook asked for the query that the
// page had once, and the page was an error as soon as a webhook had been called.
func TestTemplatesAsk(t *testing.T) {
	t.Parallel()
	templates.Check(t, templateFiles, &view{}, item{view: &view{}})
}
