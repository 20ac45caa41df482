module example.com/digits

go 1.21
