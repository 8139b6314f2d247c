<?php
/**
 * Plugin Name: cartbus
 * Description: Tells cartbus of carts, because WooCommerce has no webhook for them, and ties orders to their carts.
 * Version: 0.1.0
 * Requires PHP: 7.4
 * License: Apache-2.0
 *
 * Set both in wp-config.php; `cartbus shop add` prints the first and the place of the second:
 *
 *   define('CARTBUS_URL', 'https://carts.example/hooks/demo/cart');
 *   define('CARTBUS_SECRET', '...');
 *
 * Posts the cart as it is now whenever it changes, and once more when a shopper has typed an address at the checkout. The order gets the meta
 * field `_cartbus_cart`, by which the order webhook (order.created, order.updated at /hooks/demo/woocommerce) finds the cart. Nothing
 * is posted without an item, but for a cart that was emptied; nothing slows a page down: it is posted after the page was sent.
 */

defined('ABSPATH') || exit;

/** Our name for this cart: random, kept in the session, a new one after an order. */
function cartbus_cart_id($make = true)
{
	$session = WC()->session;
	if (!$session) {
		return '';
	}
	$id = $session->get('cartbus_cart', '');
	if ($id === '' && $make) {
		$id = 'wc-' . bin2hex(random_bytes(12));
		$session->set('cartbus_cart', $id);
	}
	return $id;
}

function cartbus_items()
{
	$items = array();
	foreach (WC()->cart->get_cart() as $line) {
		$product = $line['data'];
		$picture = wp_get_attachment_image_url($product->get_image_id(), 'woocommerce_thumbnail');
		$items[] = array(
			'title' => wp_strip_all_tags($product->get_name()),
			'sku' => $product->get_sku(),
			'product_id' => (string) $line['product_id'],
			'variant_id' => (string) $line['variation_id'],
			'quantity' => (int) $line['quantity'],
			'price' => wc_format_decimal(wc_get_price_including_tax($product), wc_get_price_decimals()),
			'picture' => $picture ?: null,
			'link' => $product->get_permalink(),
		);
	}
	return $items;
}

function cartbus_body($email)
{
	$customer = WC()->customer;
	return array(
		'id' => wp_generate_uuid4(),
		'event' => 'changed',
		'cart' => cartbus_cart_id(),
		'at' => gmdate('Y-m-d\TH:i:s\Z'),
		'email' => $email ?: null,
		'customer_id' => get_current_user_id() ? (string) get_current_user_id() : null,
		'first_name' => $customer ? $customer->get_billing_first_name() : null,
		'locale' => str_replace('_', '-', determine_locale()),
		'currency' => get_woocommerce_currency(),
		'total' => wc_format_decimal(WC()->cart->get_total('edit'), wc_get_price_decimals()),
		'recovery_url' => wc_get_cart_url(),
		'items' => cartbus_items(),
		'discount_codes' => array_values(WC()->cart->get_applied_coupons()),
	);
}

function cartbus_post($body)
{
	$text = wp_json_encode($body);
	$stamp = (string) time();
	wp_remote_post(CARTBUS_URL, array(
		'timeout' => 5,
		'headers' => array(
			'Content-Type' => 'application/json',
			'X-Cartbus-Timestamp' => $stamp,
			'X-Cartbus-Signature' => hash_hmac('sha256', $stamp . '.' . $text, CARTBUS_SECRET),
		),
		'body' => $text,
	));
}

/** Once per page, however often the cart was touched, and after the shopper has the page. */
function cartbus_later($email = '')
{
	static $planned = false, $address = '';
	$address = $email ?: $address;
	if ($planned || !defined('CARTBUS_URL') || !defined('CARTBUS_SECRET') || !WC()->cart) {
		return;
	}
	$planned = true;
	add_action('shutdown', function () use (&$address) {
		if (WC()->cart->is_empty() && cartbus_cart_id(false) === '') {
			return;
		}
		$body = cartbus_body($address ?: (WC()->customer ? WC()->customer->get_billing_email() : ''));
		if (WC()->session) {
			WC()->session->save_data();
		}
		if (function_exists('fastcgi_finish_request')) {
			fastcgi_finish_request();
		}
		cartbus_post($body);
	});
}

foreach (array('woocommerce_add_to_cart', 'woocommerce_cart_item_removed', 'woocommerce_cart_item_restored',
	'woocommerce_after_cart_item_quantity_update', 'woocommerce_applied_coupon', 'woocommerce_removed_coupon') as $hook) {
	add_action($hook, function () {
		cartbus_later();
	}, 99, 0);
}

/* The checkout form is posted again and again while it is filled in: this is where an address is first seen. */
add_action('woocommerce_checkout_update_order_review', function ($posted) {
	parse_str($posted, $fields);
	$email = isset($fields['billing_email']) ? sanitize_email(wp_unslash($fields['billing_email'])) : '';
	if (is_email($email) && WC()->session && WC()->session->get('cartbus_email') !== $email) {
		WC()->session->set('cartbus_email', $email);
		cartbus_later($email);
	}
});

add_action('woocommerce_checkout_create_order', function ($order) {
	$id = cartbus_cart_id(false);
	if ($id !== '') {
		$order->update_meta_data('_cartbus_cart', $id);
	}
});

/* A next cart is another cart. */
add_action('woocommerce_thankyou', function () {
	if (WC()->session) {
		WC()->session->set('cartbus_cart', null);
		WC()->session->set('cartbus_email', null);
	}
});
