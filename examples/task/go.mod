module example.com/task

go 1.26.0

require synod.dev/synod v0.0.0

replace synod.dev/synod => ../..
