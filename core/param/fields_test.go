package param_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"synod.dev/synod/core/param"
)

type shared struct {
	Share *float64 `yaml:"share" doc:"a share" range:"0:1"`
}

type described struct {
	shared  `yaml:",inline"`
	Rounds  int           `yaml:"rounds" doc:"rounds" range:"1:9" unit:"rounds"`
	Score   string        `yaml:"score,omitempty" doc:"how" enum:"stated|likelihood"`
	Wait    time.Duration `yaml:"wait" doc:"how long" default:"2s" example:"5s"`
	Names   []string      `yaml:"names" doc:"who"`
	Parts   []shared      `yaml:"parts" doc:"parts"`
	Seed    uint64        `yaml:"seed" doc:"seed" range:"1:"`
	Private int           `yaml:"-"`
}

func TestFields(t *testing.T) {
	var got []string
	for _, f := range param.Fields(&described{Rounds: 3, Wait: 90 * time.Minute, Seed: 1}) {
		words := []string{f.Key, f.Type, f.Default, f.Example, f.Unit, strings.Join(f.Enum, "/")}
		if f.Low != nil && f.High != nil {
			words = append(words, "limited")
		}
		if len(f.Fields) > 0 {
			words = append(words, f.Fields[0].Key)
		}
		got = append(got, strings.Join(words, ","))
	}
	want := "share,number,,,,,limited rounds,integer,3,,rounds,,limited score,string,,,,stated/likelihood " +
		"wait,duration,2s,5s,, names,list,,,, parts,list,,,,,share seed,integer,1,,,"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got\n%s\nwant\n%s", s, want)
	}
}

func TestVerify(t *testing.T) {
	good := described{Rounds: 3, Seed: 1}
	if err := param.Verify(&good); err != nil {
		t.Error(err)
	}
	share := 1.5
	for want, bad := range map[string]described{
		"share is 1.5": {shared: shared{&share}, Rounds: 3, Seed: 1},
		"rounds is 10; it must be between 1 and 9":                             {Rounds: 10, Seed: 1},
		"seed is 0; it must be at least 1":                                     {Rounds: 1},
		`score is "stted"; it must be one of stated, likelihood (did you mean`: {Rounds: 1, Score: "stted", Seed: 1},
	} {
		var e *param.Error
		if err := param.Verify(&bad); !errors.As(err, &e) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

type kinds struct {
	Long  time.Duration  `yaml:"long"`
	Hour  time.Duration  `yaml:"hour"`
	Pairs [2]int         `yaml:"pairs"`
	Map   map[string]int `yaml:"map"`
	Any   any            `yaml:"any"`
	On    bool           `yaml:"on"`
	Whole *int           `yaml:"whole"`
	Below shared         `yaml:"below"`
}

func TestFieldsOfOtherTypes(t *testing.T) {
	two := 2
	var got []string
	for _, f := range param.Fields(&kinds{Long: 90 * time.Minute, Hour: time.Hour, Whole: &two, Any: "x"}) {
		got = append(got, f.Key+","+f.Type+","+f.Default)
	}
	want := "long,duration,1h30m hour,duration,1h pairs,list,[0 0] map,table, any,any,x on,bool,false " +
		"whole,integer,2 below,table,"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got\n%s\nwant\n%s", s, want)
	}
	if param.Fields(nil) != nil {
		t.Error("nothing has fields")
	}
	defer func() {
		if recover() == nil {
			t.Error("a tag that is no range was read")
		}
	}()
	param.Fields(&struct {
		N int `yaml:"n" range:"low:high"`
	}{})
}
