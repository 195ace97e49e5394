package admin

import (
	"strconv"
	"time"

	"pmg/gateway/hooks"
	"pmg/plugin"
)

// Plugin is the state of a plugin. Counts are since its options last changed, times of the last one to two minutes.
type Plugin struct {
	Name     string `json:"name"`
	Asked    int64  `json:"asked" metric:"asked_total" column:"asked" help:"Messages that the plugin was asked about."`
	Refused  int64  `json:"refused" metric:"refused_total" column:"refused" help:"Messages that the plugin has refused."`
	Held     int64  `json:"held" metric:"held_total" column:"held" help:"Messages that the plugin has put aside until an operator decides."`
	Changed  int64  `json:"changed" metric:"changed_total" column:"changed" help:"Messages that the plugin has changed, delayed or given tags."`
	Failed   int64  `json:"failed" metric:"failed_total" column:"failed" help:"Messages that the plugin was asked about without getting a verdict, so that its on_failure has decided."`
	Rested   int64  `json:"rested" metric:"rested_total" help:"Messages that the plugin was not asked about because it rested, so that its on_failure has decided."`
	Crowded  int64  `json:"crowded" metric:"crowded_total" help:"Messages that the plugin was not asked about because too many waited for it: they were refused as throttled, or wait."`
	InFlight int64  `json:"in_flight" metric:"in_flight" column:"in flight" help:"Messages that the plugin is being asked about."`
	Waiting  int64  `json:"waiting" metric:"waiting" column:"waiting" help:"Messages that wait until the plugin can be asked."`
	Cached   int64  `json:"cached" metric:"cached_total" help:"Messages that the plugin was not asked about, because its answer about their number is cached."`
	Kept     int64  `json:"kept" metric:"kept" help:"Cached answers about numbers."`
	Resting  bool   `json:"resting" metric:"resting" help:"Whether the plugin is not asked for a while, because it has failed often."`

	Work PluginTimes `json:"work"`
	Wait PluginTimes `json:"wait"`

	WorkMean float64 `json:"-" metric:"work_mean_seconds" help:"Mean time of the plugin for a message."`
	WorkP99  float64 `json:"-" metric:"work_p99_seconds" help:"99th percentile of the plugin's time for a message."`
	WorkMax  float64 `json:"-" metric:"work_max_seconds" help:"Longest time of the plugin for a message."`
	WaitP99  float64 `json:"-" metric:"wait_p99_seconds" help:"99th percentile of the time that messages wait for the plugin."`

	RestsUntil *time.Time `json:"rests_until,omitempty"`
	LastError  string     `json:"last_error,omitempty"`
}

// PluginTimes are durations in seconds.
type PluginTimes struct {
	Min  float64 `json:"min"`
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
}

func pluginTimes(t plugin.Times) PluginTimes {
	return PluginTimes{t.Min.Seconds(), t.Mean.Seconds(), t.P50.Seconds(), t.P99.Seconds(), t.Max.Seconds()}
}

// MeanText returns the mean for people.
func (t PluginTimes) MeanText() string { return millis(t.Mean) }

// P99Text returns the 99th percentile as text for people.
func (t PluginTimes) P99Text() string { return millis(t.P99) }

func millis(seconds float64) string { return strconv.FormatFloat(1000*seconds, 'f', 2, 64) + " ms" }

// State returns the state of a plugin in a word.
func (p *Plugin) State() string {
	if p.Resting {
		return "resting"
	}
	return "ok"
}

// plugins returns the rows of the plugins, in the order of the configuration.
func plugins(of *hooks.Hooks) (rows []Plugin) {
	for _, s := range of.Status() {
		p := Plugin{
			Name: s.Name, Asked: s.Asked, Refused: s.Refused, Held: s.Held, Changed: s.Changed, Failed: s.Failed,
			Rested: s.Rested, Crowded: s.Crowded,
			InFlight: int64(s.InFlight), Waiting: int64(s.Waiting), Work: pluginTimes(s.Work), Wait: pluginTimes(s.Wait),
			LastError: s.Failure, Cached: s.Answers.Known, Kept: int64(s.Answers.Kept),
		}
		p.WorkMean, p.WorkP99, p.WorkMax, p.WaitP99 = p.Work.Mean, p.Work.P99, p.Work.Max, p.Wait.P99
		if p.Resting = !s.RestsUntil.IsZero(); p.Resting {
			p.RestsUntil = &s.RestsUntil
		}
		rows = append(rows, p)
	}
	return rows
}
