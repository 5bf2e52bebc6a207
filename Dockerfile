# Isobar on a system that INSTALL.md does not name. The build is for the CPU that makes it.
FROM debian:13
WORKDIR /isobar
COPY . .
RUN ./run.sh --build-only && rm -rf /var/lib/apt/lists/*
CMD ["./run.sh"]
