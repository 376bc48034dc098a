module recorder.example/ferry

go 1.19
