# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""No secret leaves, and a changed one is seen to have changed."""

from __future__ import annotations

import re
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._secrets.masking import (
    CHANGED,
    Masker,
    masked,
    masked_pair,
)
from ansible_collections.druidops.druid.plugins.module_utils._secrets.secret import MASK, Confidential, Quoting, Secret
from hypothesis import example, given
from hypothesis import strategies as st

SECRET = "hunter2-of-mine"
JSON_VALUE = f'{{"type":"default","password":"{SECRET}"}}'

# Each has the secret once where %% is.
TEXTS = [
    "druid.metadata.storage.connector.password=%%",
    "druid.metadata.storage.connector.password = %%",
    "  druid.metadata.storage.connector.password: %%",
    "a=b\ndruid.s3.secretKey=%%\nc=d",
    "druid.s3.accessKey=%%",
    "druid.s3.access-key=%%",
    "druid.auth.authenticator.basic.initialAdminPassword=%%",
    "druid.escalator.internalClientPassword=%%",
    "druid.client.https.keyStorePassword=%%",
    "druid.azure.sharedAccessStorageToken=%%",
    "DRUID_METADATA_STORAGE_CONNECTOR_PASSWORD=%%",
    "druid.x.apiKey=%%",
    "druid.x.passphrase=%%",
    "druid.x.credentials=%%",
    "druid.kafka.sasl.jaas.config=PlainLoginModule required username='me' pass='%%';",
    "druid.x.password=first \\\n  %%",
    "druid.x.password=first \\\n  second \\\n  %%\nc=d",
    "-server\n-Djavax.net.ssl.keyStorePassword=%%\n-Xmx1g",
    "-Xmx1g -Djavax.net.ssl.trustStorePassword=%% -Dx=y",
    "-Xmx1g -Dmy.password='%% with spaces' -Dx=y",
    '-Xmx1g -Dmy.password="with spaces %%" -Dx=y',
    "<property><name>fs.s3a.secret.key</name><value>%%</value></property>",
    "<property>\n  <name>fs.s3a.access.key</name>\n  <value>%%</value>\n</property>",
    '{"type": "metadata", "password": "%%"}',
    '{"sasl.jaas.config" : "required password=\\"%%\\";", "a": "b"}',
    f"druid.x.password={JSON_VALUE.replace(SECRET, '%%')}",
    "druid.metadata.storage.connector.connectURI=jdbc:postgresql://db.example.com/druid?user=u&password=%%&ssl=true",
    "druid.metadata.storage.connector.connectURI=jdbc:sqlserver://db.example.com;password=%%;a=b",
    "druid.emitter.http.recipientBaseUrl=https://me:%%@example.com/x",
    # databases without a URL of their own form
    "jdbc:oracle:thin:scott/%%@//db.example.com:1521/druid",
    "jdbc:oracle:thin:scott/%%@db.example.com:1521:druid",
    "jdbc:oracle:oci:scott/%%@druid",
    "druid.metadata.storage.connector.connectURI=host=db user=druid password=%% sslmode=require",
    # command lines of Hadoop and Spark
    "spark-submit --conf spark.hadoop.fs.s3a.secret.key=%% --master yarn",
    'spark-submit --conf "spark.hadoop.fs.s3a.access.key=%%" --master yarn',
    "hadoop distcp -D fs.s3a.secret.key=%% -D a=b",
    "hadoop jar x.jar -Dfs.s3a.secret.key=%%",
    # names from Druid's configuration reference and from those of its extensions
    "druid.zk.service.pwd=%%",
    "druid.azure.key=%%",
    "druid.emitter.http.basicAuthentication=%%",
    "druid.emitter.http.ssl.trustStorePassword=%%",
    "druid.metadata.postgres.ssl.sslPassword=%%",
    "druid.metadata.mysql.ssl.clientCertificateKeyStorePassword=%%",
    "druid.auth.authenticator.ldap.credentialsValidator.bindPassword=%%",
    "druid.auth.authenticator.kerberos.cookieSignatureSecret=%%",
    "druid.auth.pac4j.cookiePassphrase=%%",
    "druid.auth.pac4j.oidc.clientSecret=%%",
    "druid.server.https.keyManagerPassword=%%",
    "druid.s3.sse.custom.base64EncodedKey=%%",
    "druid.oss.secretKey=%%",
    "druid.cloudfiles.apiKey=%%",
    'druid.emitter.kafka.producer.config={"ssl.keystore.key":"%%","acks":"all"}',
    'druid.emitter.kafka.producer.shadow={"type":"mapString","config":{"ssl.key.password":"%%"}}',
    'druid.indexer.runner.javaOptsArray=["-Xmx1g","-Ddruid.x.password=%%","-server"]',
    'druid.indexer.runner.javaOpts="-Xmx1g -Ddruid.x.password=%%"',
    # other forms of a properties file
    "druid.password %%",
    "druid.password\t%%",
    "#druid.password=%%",
    "# druid.password = %%",
    "a=b\r\ndruid.password=%%\r\nc=d",
    "druid.password=\\\r\n  %%",
    "a=b \\\ndruid.password=%%",
    "export DB_PW=%%",
    # other notations
    '{"pwd":"%%"}',
    '{"basic.auth.user.info": "%%"}',
    '{"httpHeaders": {"Authorization": "Basic %%"}}',
    '{"a": "{\\"password\\": \\"%%\\"}"}',
    "curl -H 'Authorization: Bearer %%' http://example.com",
    "--password %% --user me",
    "--password=%%",
    "https://example.com/x?sv=1&sig=%%&se=2",
    "AccountName=a;AccountKey=%%;EndpointSuffix=core.windows.net",
    "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=%%",
    "druid.metadata.storage.connector.connectURI=jdbc:mysql://me:with/slash/%%@db.example.com/druid",
    "druid.cache.uri=redis://:%%@redis.example.com:6379",
    "<property><name>fs.azure.account.key.mine.blob.core.windows.net</name><value>%%</value></property>",
    "<property><name>fs.s3a.secret.key</name><description>a &lt; b</description><value>%%</value></property>",
    "<property><value>%%</value><final>true</final><name>fs.s3a.secret.key</name></property>",
    "<property>\n<name>a</name>\n<value>b</value>\n</property><property><name>a.password</name><value>%%</value>",
    "<property><name>a.password</name><value><![CDATA[%%]]></value></property>",
    '<Property name="password">%%</Property>',
    '<Property name="password" value="%%"/>',
    '<JDBC userName="me" password="%%"/>',
    "<password>%%</password>",
    'KafkaClient { org.example.PlainLoginModule required username="me" password="%%"; };',
    "-----BEGIN PRIVATE KEY-----\nMIIE%%\nabc=\n-----END PRIVATE KEY-----\n",
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIE%%",
    'druid.x={"ssl.keystore":"-----BEGIN EC PRIVATE KEY-----\\nMIIE%%\\n-----END EC PRIVATE KEY-----"}',
]
OBJECTS: list[Any] = [
    {"name": "AWS_SECRET_ACCESS_KEY", "value": "%%"},
    {"name": "druid_metadata_storage_connector_password", "value": "%%"},
    {"name": "JAVA_OPTS", "value": "-Dmy.password=%%"},
    {"data": {"druid_metadata_storage_connector_password": "%%"}},
    {"metadataStore": {"spec": {"password": "%%"}}},
    {"name": "druid_zk_service_pwd", "value": "%%"},
    {"name": "AZURE_STORAGE_ACCOUNT_KEY", "value": "%%"},
    {"name": "AZURE_KEY", "value": "%%"},
    {"name": "DB_PWD", "value": "%%"},
    {"name": "POSTGRES_PW", "value": "%%"},
    {"name": "druid_emitter_http_basicAuthentication", "value": "%%"},
    {"httpGet": {"httpHeaders": [{"name": "Authorization", "value": "%%"}]}},
    {"args": ["--user", "me", "--password", "%%", "--verbose"]},
    {"args": ["--password=%%"]},
    {"command": ["sh", "-c", "run --password %%"]},
    {"data": {"jaas.conf": "KafkaClient {\n  required password='%%';\n};"}},
]
EVERY = [*TEXTS, *OBJECTS]


def with_secret(value: Any, secret: str) -> Any:
    if isinstance(value, dict):
        return {name: with_secret(child, secret) for name, child in value.items()}
    if isinstance(value, list):
        return [with_secret(element, secret) for element in value]
    return value.replace("%%", secret)


@pytest.mark.parametrize("value", EVERY)
def test_masks(value: Any) -> None:
    assert SECRET in repr(with_secret(value, SECRET))
    assert SECRET not in repr(masked(with_secret(value, SECRET)))
    assert MASK in repr(masked(with_secret(value, SECRET)))


@pytest.mark.parametrize("value", EVERY)
def test_an_unchanged_secret_is_no_difference(value: Any) -> None:
    whole = with_secret(value, SECRET)
    before, after = masked_pair({"x": whole, "more": 1}, {"x": whole, "more": 2})
    assert before["x"] == after["x"]
    assert SECRET not in repr((before, after))


@pytest.mark.parametrize("value", EVERY)
def test_a_changed_secret_is_a_difference(value: Any) -> None:
    before, after = masked_pair(with_secret(value, SECRET), with_secret(value, "another-one"))
    assert before != after
    assert repr(after).count(CHANGED) == 1
    assert SECRET not in repr((before, after))
    assert "another-one" not in repr((before, after))


@pytest.mark.parametrize("value", [text for text in TEXTS if "4,ENCRYPTED" not in text])
def test_a_change_beside_a_secret_does_not_touch_it(value: str) -> None:
    text = with_secret(value, SECRET)
    before, after = masked_pair(text, f"{text}\nmore=1")
    assert after == f"{before}\nmore=1"


def test_secrets_that_change_places_are_a_difference() -> None:
    before, after = masked_pair("a.password=one1\nb.password=two2", "a.password=two2\nb.password=one1")
    assert after == f"a.password={CHANGED}\nb.password={CHANGED}"
    assert before == f"a.password={MASK}\nb.password={MASK}"


# Except if the secret is only a part of what is masked.
PARTLY = ("jaas", "spaces", "first", "slash", "PRIVATE", "CDATA", "Basic", "Bearer", "javaOpts=")
ALONE = [value for value in EVERY if not any(part in repr(value) for part in PARTLY)]


@pytest.mark.parametrize("value", ALONE)
def test_finds_the_secret_in_foreign_messages(value: Any) -> None:
    masker = Masker.of([{"x": [with_secret(value, SECRET)]}])
    assert masker.text(f"refused: {SECRET}!") == f"refused: {MASK}!"


NOT_SECRET: list[Any] = [
    "druid.host=localhost",
    "druid.service=druid/broker",
    'druid.x.password={"type":"environment","variable":"PASSWORD"}',
    "http://example.com:8081/a?b=c",
    "jdbc:postgresql://db.example.com:5432/druid",
    {"name": "HOME", "value": "/x"},
    {"name": "AWS_SECRET_ACCESS_KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "password"}}},
    {"volumes": [{"name": "v", "secret": {"secretName": "s"}}], "automountServiceAccountToken": False},
    {"imagePullSecrets": [{"name": "s"}], "serviceAccountToken": {"path": "token", "expirationSeconds": 3600}},
    {"extraCommonConfig": [{"kind": "Secret", "name": "s", "namespace": "ns"}]},
    {"annotations": {"druid.apache.org/secret-hash": "abc"}},
    {"druid.x.password": ""},
    {1: "x", "passwords": 1, "token": None},
    'druid.x.password={"variable":"PASSWORD", "type":"environment"}',
    'druid.auth.authenticatorChain=["basic"]\ndruid.auth.unsecuredPaths=[]\ndruid.storage.baseKey=x',
    "druid.s3.sse.kms.keyId=x\ndruid.monitoring.monitors=[]\ndruid.indexer.storage.type=metadata",
    "password required by policy\nThe passwords are elsewhere",
    "ssl.key.location=/etc/key.pem",
    "-----BEGIN CERTIFICATE-----\nMIID\n-----END CERTIFICATE-----\n",
    {"args": ["--user", "me"], "items": [{"key": "tls.key", "path": "tls.key"}]},
    {"labels": {"rbac.authorization.k8s.io/aggregate-to-admin": "true"}},
    {"topologySpreadConstraints": [{"topologyKey": "zone"}], "primaryKey": "id"},
]


@pytest.mark.parametrize("value", NOT_SECRET)
def test_keeps(value: Any) -> None:
    assert masked(value) == value
    assert masked_pair(value, value) == (value, value)


def test_shows_added_and_removed_elements() -> None:
    secret = {"name": "A_TOKEN", "value": SECRET}
    assert masked_pair([], [secret]) == ([], [{"name": "A_TOKEN", "value": MASK}])
    assert masked_pair([secret], []) == ([{"name": "A_TOKEN", "value": MASK}], [])
    assert masked_pair(None, {"env": [secret]})[1] == {"env": [{"name": "A_TOKEN", "value": MASK}]}
    assert masked_pair({"name": "A_TOKEN", "value": ""}, secret)[1]["value"] == CHANGED


def test_an_element_in_front_does_not_shift_the_others() -> None:
    first, second = {"name": "A_TOKEN", "value": "one1"}, {"name": "B_TOKEN", "value": "two2"}
    before, after = masked_pair([second], [first, second])
    assert after[1] == before[0] == {"name": "B_TOKEN", "value": MASK}


@pytest.mark.parametrize("ordinary", ["true", "False", "abc", ""])
def test_does_not_mask_ordinary_words(ordinary: str) -> None:
    masker = Masker.of([{"x": f"druid.auth.token.enabled={ordinary}"}])
    assert masker.text(f"it is {ordinary}") == f"it is {ordinary}"


WORDS = ["druid", "wiki", "my-druid", "druid.wiki", "s3cret1"]


@pytest.mark.parametrize("word", WORDS)
def test_secret_that_may_be_a_word_is_masked_as_a_whole_word(word: str) -> None:
    masker = Masker.of([f"druid.metadata.storage.connector.password={word}"])
    for alone in ("refused: %%", "refused: %%.", "'%%'", '"%%"', "password=%%;", "me:%%@example.com", "a\\n%%\\nb"):
        assert masker.text(alone.replace("%%", word)) == alone.replace("%%", MASK)
    for inside in (
        "StatefulSet %%-wiki-brokers",
        "a-%%",
        "%%s",
        "x%%",
        "%%.apache.org",
        "apache/%%:33",
        "%%/broker",
        "x_%%",
    ):
        name = inside.replace("%%", word)
        assert masker.text(name) == name


@pytest.mark.parametrize("secret", ["T0p/s3cret+of=mine", "a password", "0123456789abcdef0123"])
def test_secret_that_is_not_a_word_is_masked_everywhere(secret: str) -> None:
    masker = Masker.of([{"name": "A_TOKEN", "value": secret}])
    assert masker.text(f"https://example.com/x{secret}y") == f"https://example.com/x{MASK}y"


@pytest.mark.parametrize(
    ("secret", "repeated"),
    [
        # as json.Marshal, strconv.Quote, and the one of the other of Go print it
        ("tab\t<canary>&", r"tab\t\u003ccanary\u003e\u0026"),
        ("tab\t<canary>&", r"tab\\t\\u003ccanary\\u003e\\u0026"),
        ('can"ary\\2é', r"can\"ary\\2é"),
        ('can"ary\\2é', r"can\\\"ary\\\\2é"),
        ("c\x01anary\x7f", r"c\x01anary\x7f"),
        ("x\u2028canary", r"x\u2028canary"),
        ("\U0001f600\xa0canary\v\a", r"😀\u00a0canary\v\a"),
    ],
)
def test_masks_what_the_api_server_repeats(secret: str, repeated: str) -> None:
    masker = Masker.of([{"env": [{"name": "DB_PASSWORD", "value": secret}]}])
    assert masker.text(f'spec.env[0].value: Invalid value: "{repeated}": no') == (
        'spec.env[0].value: Invalid value: "********": no'
    )


def test_knows_a_secret_in_the_notation_of_others() -> None:
    masker = Masker.of(
        [
            '{"password":"with \\"quotes\\""}',
            "<property><name>a.password</name><value>less &lt; more</value></property>",
            "druid.emitter.http.basicAuthentication=someone:hunter2-of-mine",
            {"name": "A_TOKEN", "value": "first\nsecond"},
        ]
    )
    for words in (
        'with "quotes"',
        'with \\"quotes\\"',
        "less < more",
        "hunter2-of-mine",
        "first\\nsecond",
        "first\nsecond",
    ):
        assert masker.text(f"refused: {words}!") == f"refused: {MASK}!"


MARKED: list[Any] = [
    {"anything": Confidential(SECRET)},
    [Confidential(SECRET)],
    {"password": Confidential(SECRET)},
    {"password": {"type": "default", "password": Confidential(SECRET)}},
    Quoting(f"a {SECRET} b", (Secret(2, 2 + len(SECRET), "", SECRET),)),
    {"password": Quoting(f"a {SECRET} b", (Secret(2, 2 + len(SECRET), "", SECRET),))},
    Quoting(f"a {SECRET}\npassword={SECRET}", (Secret(2, 2 + len(SECRET), "", SECRET),)),
]


@pytest.mark.parametrize("value", MARKED)
def test_masks_marked_values(value: Any) -> None:
    for shown in (masked(value), masked_pair(value, value), masked_pair(None, value), masked_pair(value, {})):
        assert SECRET not in repr(shown)
        assert MASK in repr(shown)
    assert SECRET not in Masker.of([value]).text(f"refused: {SECRET}!")


def test_a_changed_secret_that_is_marked_is_a_difference() -> None:
    pair = masked_pair({"a": Confidential(SECRET)}, {"a": Confidential("another-one")})
    assert pair == ({"a": MASK}, {"a": CHANGED})
    whole = Quoting(f"a {SECRET} b", (Secret(2, 2 + len(SECRET), "", SECRET),))
    assert masked_pair(whole, Quoting("a x b", (Secret(2, 3, "", "x"),))) == (f"a {MASK} b", f"a {CHANGED} b")
    assert masked_pair({"a": SECRET}, {"a": Confidential(SECRET)}) == ({"a": MASK}, {"a": MASK})


HOSTILE = (
    *("a", " ", "=", "#", "\n", "\\", "{", "-a=", '-a="', "://a:", "?a=", "a\\\n", 'a="', '"a":', '"a":"', "a.b "),
    *("<property>", "<property ", "<name>", 'name="a"', "name=", '\\"a\\":\\"', "-----BEGIN PRIVATE KEY-----"),
    *("password", "password=", "password \\\n", "--password ", "&password=", "authorization:"),
)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_masking_is_fast_for_any_text(hostile: str) -> None:
    """With anything worse than linear time these would take hours."""
    text = hostile * (100_000 // len(hostile))
    Masker.of([text]).text(text)
    masked_pair(text, f"{text}x")


def test_longer_secrets_are_masked_first() -> None:
    masker = Masker.of(["a.password=abcd\nb.password=abcdef"])
    assert masker.text("abcdef abcd") == f"{MASK} {MASK}"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=5), children, max_size=3),
    max_leaves=8,
)


@given(VALUES, VALUES)
def test_pairs_differ_where_the_values_differ(before: Any, after: Any) -> None:
    """A text without secrets is returned unchanged; equal stays equal, different stays different."""
    left, right = masked_pair(before, after)
    assert (left == right) == (before == after)


# After --password, what looks like a flag is the next flag, as for the programs that read it.
PASSWORDS = st.text(
    st.characters(codec="ascii", exclude_categories=["C", "Z"], exclude_characters="\\\"'<>&;@/:=*"), min_size=8
).filter(lambda text: not re.match("--?[A-Za-z]", text))


@given(st.sampled_from(TEXTS), PASSWORDS)
@example("--password %% --user me", "-0000000")
def test_masks_every_password(text: str, password: str) -> None:
    whole = with_secret(text, password)
    assert masked(whole) == masked(with_secret(text, SECRET))


@pytest.mark.parametrize("name", [{}, [], 1, None])
def test_name_may_be_any_string(name: Any) -> None:
    before, after = masked_pair([{"name": name, "password": "a"}], [{"name": name, "password": "b"}])
    assert (before[0]["name"], after[0]["name"]) == (name, name)
    assert before[0]["password"] == MASK
    assert "b" not in str(after[0]["password"])
