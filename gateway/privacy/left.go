package privacy

import (
	"maps"
	"os"
	"path/filepath"
	"slices"

	"pmg/config"
)

const (
	// ListStays says why a number stays on a list.
	ListStays = "it keeps messages away, such as behind an opt-out; pmg list and the list's file remove it"
	// HistoryStays says why the changes of a number stay that is not on a list any more.
	HistoryStays = "its changes say when somebody has opted out and in; they are lines of the file FILE.changes beside the list's"
	// MemoryStays says why messages stay in queues.
	MemoryStays = "store.engine is memory: messages that wait in queues stay until they have ended"
)

// All returns the numbers, in their international form.
func (n *Numbers) All() []string { return slices.Sorted(maps.Keys(n.international)) }

// LeftBy returns the places of a configuration that are left as they are.
func LeftBy(cfg *config.Config) []Left {
	all := []Left{{Where: "log", Why: "the gateway's own log seldom has numbers, and is kept by what keeps its output"}}
	if cfg.Admin.Audit != "" {
		all = append(all, Left{Where: cfg.Admin.Audit, Why: "the audit log shows what operators have searched for"})
	}
	if copies, err := os.ReadDir(cfg.Store.Backups); cfg.Store.Backups != "" && err == nil {
		for _, one := range copies {
			path := filepath.Join(cfg.Store.Backups, one.Name())
			all = append(all, Left{Where: path, Why: "it is a copy of the store as it was; remove it"})
		}
	}
	if cfg.Cluster.Node != "" {
		all = append(all, Left{
			Where: "cluster", Why: "each node has logs of its own, and a copy of the store that is purged there alone: ask " +
				"each node while it owns the work; NATS keeps what was changed until it is trimmed",
		})
	}
	if cfg.Telemetry.OTLP != "" {
		all = append(all, Left{Where: cfg.Telemetry.OTLP, Why: "the collector has the traces that were sent to it"})
	}
	return all
}
