package gateway

import (
	"pmg/config"
	"pmg/plugin"
	"pmg/plugin/service"
)

// pluginOf makes the plugin of a service.
func pluginOf(p *config.Plugin) plugin.Plugin {
	return service.New(service.Options{URL: p.URL, Key: p.Key, Batch: p.Batch})
}
