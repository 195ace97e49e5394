package classic

import (
	"os"
	"testing"

	"pmg/gateway"
	"pmg/internal/e2e"
)

func TestMain(m *testing.M) { os.Exit(e2e.Main(m)) }

func TestScenarios(t *testing.T) {
	e2e.Scenarios(t, func(g *gateway.Gateway) (gateway.Engine, error) { return Start(g) })
}
