module monitoring

go 1.25.0

require github.com/prometheus-operator/prometheus-operator v0.85.0
