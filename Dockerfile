# worldthread as a service: docker build -t worldthread . && docker run -p 127.0.0.1:8767:8767 -v memory:/data worldthread
# docs/run-on-servers.md says how to run it, compose.yaml runs it beside PostgreSQL.

FROM python:3.11-slim-bookworm AS build
WORKDIR /build
COPY pyproject.toml constraints.txt README.md LICENSE NOTICE ./
COPY src src
# packages are pinned by version and hash; worldthread itself is built here and copied into the environment
RUN python -m venv /opt/worldthread \
    && sed -n '/^pip==/,/[^\\]$/p' constraints.txt >pip.txt \
    && /opt/worldthread/bin/pip install --no-cache-dir --require-hashes -r pip.txt \
    && /opt/worldthread/bin/pip install --no-cache-dir --constraint constraints.txt --group build \
    && /opt/worldthread/bin/pip install --no-cache-dir --no-build-isolation --no-deps . \
    && /opt/worldthread/bin/pip install --no-cache-dir --no-build-isolation --constraint constraints.txt \
        "worldthread[language,mcp,model,postgres,serve]"

FROM python:3.11-slim-bookworm
COPY --from=build /opt/worldthread /opt/worldthread
RUN useradd --system --uid 10001 --home-dir /data worldthread \
    && mkdir /data \
    && chown worldthread /data
USER 10001
WORKDIR /data
VOLUME /data
ENV PATH=/opt/worldthread/bin:$PATH
EXPOSE 8767
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8767/ready', timeout=4)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["worldthread"]
CMD ["serve", "--host", "0.0.0.0"]
