package e2e

import "testing"

func TestScenarios(t *testing.T) { Scenarios(t, pipeline) }
